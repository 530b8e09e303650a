package main

import (
	"fmt"
	"net"
	"strings"
	"time"

	nodefast "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	heartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
)

// A KwokConfiguration in a file gets no defaults: every parallelism must be set.
const kwokOptions = `apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  enableDebuggingHandlers: true
  enablePodsOnNodeSyncListPager: true
  podPlayStageParallelism: 16
  nodePlayStageParallelism: 4
  nodeLeaseParallelism: 4
  podsOnNodeSyncParallelism: 1
`

// startKwok starts what stands for all kubelets. Its rules lie in a file, so that the cluster has no kinds of kwok's.
// There is no exec: kwok would run the real command on this machine.
func (c *cluster) startKwok(s *supervisor) {
	address := freeAddress()
	_, port, err := net.SplitHostPort(address)
	check(err)
	write(c.file("kwok.yaml"), []byte(strings.Join([]string{
		kwokOptions,
		nodefast.DefaultNodeInit, heartbeat.DefaultNodeHeartbeatWithLease,
		podfast.DefaultPodReady, podfast.DefaultPodComplete, podfast.DefaultPodDelete,
		c.writeLogs(time.Now()),
	}, "\n---\n")))
	s.start(c.context, c.dir, "kwok",
		"--kubeconfig="+c.file("kubeconfig"), "--config="+c.file("kwok.yaml"),
		"--manage-all-nodes", "--node-lease-duration-seconds=40", "--cidr=10.244.0.0/16",
		"--node-ip=127.0.0.1", "--node-port="+port, "--server-address="+address,
		"--tls-cert-file="+c.file("serving.crt"), "--tls-private-key-file="+c.file("serving.key"),
	)
}

// writeLogs writes what containers say, and gives the rule that shows it. A container named junk says what a
// terminal must not see, one named silent says nothing, every other counts to 200, a line a second until now.
// The run before of each says where it ended.
func (c *cluster) writeLogs(now time.Time) string {
	line := func(before time.Duration, stream, text string) string {
		return fmt.Sprintf("%s %s F %s\n", now.Add(-before).UTC().Format(time.RFC3339Nano), stream, text)
	}
	var counting strings.Builder
	for i := 1; i <= 200; i++ {
		counting.WriteString(line(time.Duration(200-i)*time.Second, "stdout", fmt.Sprintf("line %d of 200", i)))
	}
	write(c.file("counting.log"), []byte(counting.String()))
	write(c.file("previous.log"), []byte(
		line(402*time.Second, "stdout", "starting")+line(401*time.Second, "stderr", "panic: cannot reach database")))
	write(c.file("junk.log"), []byte(
		line(3*time.Second, "stdout", "\x1b[31mred\x1b[0m and \x1b]0;title\x07")+
			line(2*time.Second, "stdout", "not UTF-8: \xff\xfe")+
			line(time.Second, "stderr", "a NUL: \x00 and a return:\rover")))
	write(c.file("silent.log"), nil)
	return fmt.Sprintf(`apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterLogs
metadata: {name: all}
spec:
  logs:
  - {containers: [junk], logsFile: %[1]q, previousLogsFile: %[2]q}
  - {containers: [silent], logsFile: %[3]q, previousLogsFile: %[3]q}
  - {logsFile: %[4]q, previousLogsFile: %[2]q}
`, c.file("junk.log"), c.file("previous.log"), c.file("silent.log"), c.file("counting.log"))
}
