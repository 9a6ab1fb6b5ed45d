// SPDX-License-Identifier: Apache-2.0

package nemesis

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/evidence/procs"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

const (
	// hubVariable makes the test run inside the namespace of the switch: its value is the
	// prefix of the names of the servers' namespaces.
	hubVariable = "ASHLAR_NEMESIS_HUB"
	// lossPercent is the share of packets that each host loses on the way in.
	lossPercent = 3
	netHosts    = 4
)

// TestNamespaces runs each server on a host of its own: a network namespace with its own
// address, connected to the others by a switch that loses packets. Hosts are cut off by
// taking their link down. All of it is inside namespaces that the test makes and removes;
// the clients are in one, too.
func TestNamespaces(t *testing.T) {
	if testing.Short() {
		t.Skip("real processes take some seconds")
	}
	if prefix := os.Getenv(hubVariable); prefix != "" {
		inNamespaces(t, prefix)
		return
	}
	prefix := procs.Namespaces(t, netHosts, lossPercent)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("ip", "netns", "exec", prefix+"-hub", program, "-test.run=^TestNamespaces$", "-test.v", "-test.timeout=3m")
	cmd.Env = append(os.Environ(), hubVariable+"="+prefix)
	code, out, errs := procs.RunWithin(t, cmd, 4*time.Minute) // it ends itself before
	if code != 0 {
		t.Errorf("inside: exit code %d", code)
	}
	t.Logf("%s%s", out, errs)
}

// inNamespaces is the test inside the switch's namespace.
func inNamespaces(t *testing.T, prefix string) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, genesis: &wor.Genesis{Cluster: 0xadd, Partitions: []wor.Config{{Partition: 0}, {Partition: 1}}}}
	for i := range netHosts {
		addr := fmt.Sprintf("192.0.2.%d:7100", i+1)
		h := &host{
			t: t, c: c, number: i, dir: filepath.Join(t.TempDir(), "disk"), listen: addr,
			command: []string{"ip", "netns", "exec", fmt.Sprintf("%s-%d", prefix, i), program},
			member:  wor.Member{Name: fmt.Sprint("s", i), Addr: addr},
		}
		c.hosts = append(c.hosts, h)
		h.format()
		t.Cleanup(h.kill)
	}
	c.begin()
	operator := c.client()
	defer operator.Close()
	c.serving(operator, patience)
	stop, end := context.WithCancel(context.Background())
	defer end()
	w := newWorkload(t, stop)
	closed := w.begin(c)
	r := rand.New(rand.NewPCG(3, 4))
	rounds := 5
	if os.Getenv(longVariable) != "" {
		rounds = 40
	}
	for i := range rounds {
		time.Sleep(time.Duration(r.IntN(700)) * time.Millisecond)
		h := c.hosts[r.IntN(netHosts)]
		if i%3 == 2 {
			h.kill()
			time.Sleep(time.Duration(r.IntN(500)) * time.Millisecond)
			h.start()
			continue
		}
		port := fmt.Sprint("port", h.number)
		if err := procs.IP("link", "set", port, "down"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(r.IntN(1500)) * time.Millisecond)
		if err := procs.IP("link", "set", port, "up"); err != nil {
			t.Fatal(err)
		}
	}
	w.lives()
	end()
	w.finish(c)
	closed()
	w.summary(t, 5)
	lost, err := exec.Command("ip", "netns", "exec", prefix+"-0", "iptables", "-L", "INPUT", "-v", "-n").CombinedOutput()
	t.Logf("%d%% of all packets lost; at one host: %v %s", lossPercent, err, bytes.TrimSpace(lost))
}
