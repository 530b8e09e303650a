package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authority is the CA of one cluster. It signs certificates of servers and of clients.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// newAuthority makes a CA and writes ca.crt and ca.key, with which the controller manager signs too.
func newAuthority(dir, name string) *authority {
	key, keyPEM := newKey()
	cert := subject(name)
	cert.IsCA = true
	cert.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	check(err)
	cert, err = x509.ParseCertificate(der)
	check(err)
	ca := &authority{cert, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
	write(filepath.Join(dir, "ca.crt"), ca.pem)
	write(filepath.Join(dir, "ca.key"), keyPEM)
	return ca
}

// issue gives a certificate and its key: a server's if there are hosts, else a client's.
func (ca *authority) issue(cert *x509.Certificate, hosts ...string) (certPEM, keyPEM []byte) {
	cert.KeyUsage = x509.KeyUsageDigitalSignature
	cert.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	for _, host := range hosts {
		cert.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		if ip := net.ParseIP(host); ip != nil {
			cert.IPAddresses = append(cert.IPAddresses, ip)
		} else {
			cert.DNSNames = append(cert.DNSNames, host)
		}
	}
	key, keyPEM := newKey()
	der, err := x509.CreateCertificate(rand.Reader, cert, ca.cert, &key.PublicKey, ca.key)
	check(err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), keyPEM
}

// issueTo issues and writes NAME.crt and NAME.key.
func (ca *authority) issueTo(dir, name string, cert *x509.Certificate, hosts ...string) {
	certPEM, keyPEM := ca.issue(cert, hosts...)
	write(filepath.Join(dir, name+".crt"), certPEM)
	write(filepath.Join(dir, name+".key"), keyPEM)
}

// subject begins a certificate: Kubernetes reads the user from the common name, the groups from the organisations.
func subject(name string, groups ...string) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	check(err)
	return &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: name, Organization: groups},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().AddDate(0, 0, 30),
		BasicConstraintsValid: true,
	}
}

func newKey() (*ecdsa.PrivateKey, []byte) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	der, err := x509.MarshalECPrivateKey(key)
	check(err)
	return key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
}

func newToken() string {
	bytes := make([]byte, 16)
	_, err := rand.Read(bytes)
	check(err)
	return hex.EncodeToString(bytes)
}

func write(path string, data []byte) {
	check(os.WriteFile(path, data, 0o600))
}
