package main

import (
	"flag"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
)

// runEtcd runs an etcd of one member. It does not sync: what a test wrote need not outlive the machine.
func runEtcd(args []string) {
	flags := flag.NewFlagSet("etcd", flag.ExitOnError)
	dir := flags.String("data-dir", "", "data directory")
	listen := flags.String("listen", "", "client URL")
	check(flags.Parse(args))

	client, err := url.Parse(*listen)
	check(err)
	peer := url.URL{Scheme: "http", Host: "127.0.0.1:0"} // never dialled: there is one member
	cfg := embed.NewConfig()
	cfg.Name = "default"
	cfg.Dir = *dir
	cfg.LogLevel = "warn"
	cfg.ListenClientUrls = []url.URL{*client}
	cfg.AdvertiseClientUrls = []url.URL{*client}
	cfg.ListenPeerUrls = []url.URL{peer}
	cfg.AdvertisePeerUrls = []url.URL{peer}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.UnsafeNoFsync = true
	cfg.QuotaBackendBytes = 4 << 30

	etcd, err := embed.StartEtcd(cfg)
	check(err)
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGINT, syscall.SIGTERM)
	select {
	case <-told:
	case err := <-etcd.Err():
		check(err)
	}
	etcd.Close()
}
