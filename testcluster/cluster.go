package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// cluster is one control plane in its folder.
type cluster struct {
	id, context, dir string
	etcd, server     string // addresses
	ca               *authority
	admin            *clientcmdapi.AuthInfo
	limitedToken     string
}

// newCluster makes the folder with certificates, keys, tokens and kubeconfig files.
func newCluster(id, name, dir, etcd string) *cluster {
	check(os.MkdirAll(dir, 0o700))
	c := &cluster{id: id, context: name, dir: dir, etcd: etcd, server: freeAddress(), limitedToken: newToken()}
	c.ca = newAuthority(dir, id+"-ca")
	c.ca.issueTo(dir, "serving", subject("kube-apiserver"), "127.0.0.1", "localhost", "10.96.0.1",
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
	c.ca.issueTo(dir, "proxy", subject("front-proxy"))
	_, accounts := newKey()
	write(c.file("accounts.key"), accounts)
	write(c.file("tokens.csv"), fmt.Appendf(nil, "%s,alice,alice,developers\n", c.limitedToken))
	c.admin = c.kubeconfig("kubeconfig", "admin", "system:masters")
	c.kubeconfig("controller-manager.kubeconfig", "system:kube-controller-manager")
	c.kubeconfig("scheduler.kubeconfig", "system:kube-scheduler")
	return c
}

func (c *cluster) file(name string) string { return filepath.Join(c.dir, name) }

// kubeconfig writes one for a user with a certificate.
func (c *cluster) kubeconfig(name, user string, groups ...string) *clientcmdapi.AuthInfo {
	cert, key := c.ca.issue(subject(user, groups...))
	auth := &clientcmdapi.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
	config := clientcmdapi.NewConfig()
	config.CurrentContext = c.context
	c.enter(config, auth)
	check(clientcmd.WriteToFile(*config, c.file(name)))
	return auth
}

// enter adds this cluster's context to a kubeconfig.
func (c *cluster) enter(config *clientcmdapi.Config, auth *clientcmdapi.AuthInfo) {
	config.Clusters[c.context] = &clientcmdapi.Cluster{
		Server: "https://" + c.server, CertificateAuthorityData: c.ca.pem,
	}
	config.AuthInfos[c.context] = auth
	config.Contexts[c.context] = &clientcmdapi.Context{Cluster: c.context, AuthInfo: c.context}
}

// run starts the parts and returns when the nodes are ready and pods may be created.
func (c *cluster) run(s *supervisor, nodes int) {
	c.startServer(s)
	config, err := clientcmd.BuildConfigFromFlags("", c.file("kubeconfig"))
	check(err)
	config.QPS, config.Burst = 200, 400
	client, err := kubernetes.NewForConfig(config)
	check(err)
	poll(fmt.Sprintf("apiserver of %q", c.context), func(ctx context.Context) bool {
		_, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err == nil
	})
	c.startControllers(s)
	c.startKwok(s)
	for i := range nodes {
		name := fmt.Sprintf("%s-node-%d", c.id, i+1)
		_, err := client.CoreV1().Nodes().Create(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
				"node-role.kubernetes.io/worker": "",
			},
		}}, metav1.CreateOptions{})
		check(err)
	}
	poll(fmt.Sprintf("cluster %q", c.context), func(ctx context.Context) bool {
		return usable(ctx, client, nodes)
	})
}

// usable says whether all nodes take pods, and the controller manager has made the service account without which
// pods are refused.
func usable(ctx context.Context, client kubernetes.Interface, nodes int) bool {
	if _, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{}); err != nil {
		return false
	}
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return false
	}
	ready := 0
	for _, node := range list.Items {
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue && len(node.Spec.Taints) == 0 {
				ready++
			}
		}
	}
	return ready == nodes
}

func (c *cluster) startServer(s *supervisor) {
	_, port, err := net.SplitHostPort(c.server)
	check(err)
	s.start(c.context, c.dir, "apiserver",
		"--etcd-servers="+c.etcd, "--etcd-prefix=/"+c.id,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port="+port,
		"--endpoint-reconciler-type=none", // a loopback address is no valid endpoint
		"--service-cluster-ip-range=10.96.0.0/16", "--allow-privileged=true",
		"--authorization-mode=Node,RBAC",
		"--client-ca-file="+c.file("ca.crt"), "--token-auth-file="+c.file("tokens.csv"),
		"--tls-cert-file="+c.file("serving.crt"), "--tls-private-key-file="+c.file("serving.key"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file="+c.file("accounts.key"),
		"--service-account-signing-key-file="+c.file("accounts.key"),
		"--requestheader-client-ca-file="+c.file("ca.crt"), "--requestheader-allowed-names=front-proxy",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file="+c.file("proxy.crt"), "--proxy-client-key-file="+c.file("proxy.key"),
		"--kubelet-preferred-address-types=InternalIP", // logs come from kwok, at a node's address
	)
}

func (c *cluster) startControllers(s *supervisor) {
	s.start(c.context, c.dir, "controller-manager",
		"--kubeconfig="+c.file("controller-manager.kubeconfig"), "--use-service-account-credentials=true",
		"--leader-elect=false", "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=1000",
		"--root-ca-file="+c.file("ca.crt"), "--service-account-private-key-file="+c.file("accounts.key"),
		"--cluster-signing-cert-file="+c.file("ca.crt"), "--cluster-signing-key-file="+c.file("ca.key"),
	)
	s.start(c.context, c.dir, "scheduler",
		"--kubeconfig="+c.file("scheduler.kubeconfig"), "--leader-elect=false", "--secure-port=0",
		"--kube-api-qps=500", "--kube-api-burst=1000",
	)
}
