package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// up runs one etcd and a control plane for each context, until it is told to stop: by a signal, or by the end of its
// standard input. DIR/kubeconfig has all contexts; the line KUBECONFIG=… on standard output says that all is ready.
func up(args []string) {
	runtime.LockOSThread() // see supervisor.run
	flags := flag.NewFlagSet("up", flag.ExitOnError)
	dir := flags.String("dir", "", "folder for certificates, logs and kubeconfig; made if missing, not used twice")
	nodes := flags.Int("nodes", 3, "nodes of each cluster")
	detached := flags.Bool("detached", false, "run in a session of its own and do not look at standard input")
	var contexts []string
	flags.Func("context", "a cluster, by the name of its context; again for more", func(name string) error {
		contexts = append(contexts, name)
		return nil
	})
	check(flags.Parse(args))
	if *dir == "" || len(contexts) == 0 || flags.NArg() > 0 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(64)
	}

	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	if *detached {
		_, err := syscall.Setsid()
		check(err)
	} else {
		go func() {
			for buffer := make([]byte, 512); ; {
				if _, err := os.Stdin.Read(buffer); err != nil {
					told <- syscall.SIGTERM
					return
				}
			}
		}()
	}

	root, err := filepath.Abs(*dir)
	check(err)
	check(os.MkdirAll(root, 0o700))
	s := newSupervisor(root, contexts, *nodes)
	ready := make(chan struct{})
	go func() {
		s.startAll(root, contexts, *nodes)
		s.ready()
		close(ready)
		fmt.Printf("KUBECONFIG=%s\n", filepath.Join(root, "kubeconfig"))
	}()
	check(s.run(ready, told))
}

// startAll starts etcd and then all clusters at once, and writes the kubeconfig files.
func (s *supervisor) startAll(root string, contexts []string, nodes int) {
	began := time.Now()
	etcd := "http://" + freeAddress()
	s.start("", root, "etcd", "--data-dir", filepath.Join(root, "etcd"), "--listen", etcd)
	poll("etcd", func(ctx context.Context) bool {
		response, err := http.Get(etcd + "/health")
		if err == nil {
			response.Body.Close()
		}
		return err == nil && response.StatusCode == http.StatusOK
	})
	progress(began, "etcd is ready")

	admin, limited := clientcmdapi.NewConfig(), clientcmdapi.NewConfig()
	admin.CurrentContext, limited.CurrentContext = contexts[0], contexts[0]
	var mu sync.Mutex
	var all sync.WaitGroup
	for i, name := range contexts {
		all.Go(func() {
			// a context's name is no file name, no etcd prefix and no node name
			id := "c" + strconv.Itoa(i+1)
			c := newCluster(id, name, filepath.Join(root, id), etcd)
			c.run(s, nodes)
			progress(began, "cluster %q is ready", name)
			mu.Lock()
			defer mu.Unlock()
			c.enter(admin, c.admin)
			c.enter(limited, &clientcmdapi.AuthInfo{Token: c.limitedToken})
		})
	}
	all.Wait()
	check(clientcmd.WriteToFile(*limited, filepath.Join(root, "limited.kubeconfig")))
	check(clientcmd.WriteToFile(*admin, filepath.Join(root, "kubeconfig")))
}

func progress(began time.Time, format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%5.1f s %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
}

// poll asks until the answer is yes; three minutes are more than a slow machine needs.
func poll(what string, done func(context.Context) bool) {
	err := wait.PollUntilContextTimeout(context.Background(), 50*time.Millisecond, 3*time.Minute, true,
		func(ctx context.Context) (bool, error) { return done(ctx), nil })
	if err != nil {
		check(fmt.Errorf("%s did not become ready: %w", what, err))
	}
}

var (
	given      = map[int]bool{}
	givenGuard sync.Mutex
)

// freeAddress gives a free loopback address. The port is below those that the system hands out by itself, so that
// no connection takes it before its server listens.
func freeAddress() string {
	givenGuard.Lock()
	defer givenGuard.Unlock()
	for {
		port := 20000 + rand.IntN(12000)
		if given[port] {
			continue
		}
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if listener, err := net.Listen("tcp", address); err == nil {
			listener.Close()
			given[port] = true
			return address
		}
	}
}
