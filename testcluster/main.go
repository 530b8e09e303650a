// Command testcluster is one program that is every part of a Kubernetes control plane: etcd, kube-apiserver,
// kube-controller-manager, kube-scheduler, and kwok in place of nodes. "up" runs whole clusters of them on
// loopback, for tests only: etcd does not sync, has no password, and every key lies in a folder.
package main

import (
	"fmt"
	"os"
	_ "time/tzdata" // a CronJob may name a time zone where the machine knows none

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

const usage = `usage: testcluster up --dir DIR --context NAME [--context NAME]… [--nodes K] [--detached]
       testcluster etcd|apiserver|controller-manager|scheduler|kwok [FLAG]…`

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(64)
	}
	part := os.Args[1]
	os.Args = append([]string{"testcluster-" + part}, os.Args[2:]...)
	switch part {
	case "up":
		up(os.Args[1:])
	case "etcd":
		runEtcd(os.Args[1:])
	case "apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "controller-manager":
		os.Exit(cli.Run(manager.NewControllerManagerCommand()))
	case "scheduler":
		os.Exit(cli.Run(scheduler.NewSchedulerCommand()))
	case "kwok":
		runKwok()
	default:
		fmt.Fprintf(os.Stderr, "unknown part %q\n%s\n", part, usage)
		os.Exit(64)
	}
}

// check ends the program when there is an error. Children end with it.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "testcluster:", err)
		os.Exit(1)
	}
}
