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

	"github.com/ashlar-dev/ashlar/worm/wor"
)

const (
	// hubVariable has the test run inside the namespace of the switch: its value
	// is the beginning of the names of the servers' namespaces.
	hubVariable = "ASHLAR_NEMESIS_HUB"
	// lossPercent is how many of the packets each host loses on the way in.
	lossPercent = 3
	netHosts    = 4
)

// TestNamespaces has each server on a host of its own: a network namespace with
// its own address, joined to the others by a switch that loses packets. Hosts are
// cut off by taking their link down. All of it is inside namespaces that the test
// makes and removes; the clients are in one, too.
func TestNamespaces(t *testing.T) {
	if testing.Short() {
		t.Skip("real processes take some seconds")
	}
	if prefix := os.Getenv(hubVariable); prefix != "" {
		inNamespaces(t, prefix)
		return
	}
	prefix := makeNamespaces(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	inside := exec.Command("ip", "netns", "exec", prefix+"-hub", program, "-test.run=^TestNamespaces$", "-test.v", "-test.timeout=3m")
	inside.Env = append(os.Environ(), hubVariable+"="+prefix)
	out, err := inside.CombinedOutput()
	if err != nil {
		t.Errorf("inside: %v", err)
	}
	t.Logf("%s", out)
}

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %v: %w: %s", args, err, out)
	}
	return nil
}

// makeNamespaces makes a namespace for the switch and the clients, and one for each
// server. Where that is not permitted the test does not run, and says so.
func makeNamespaces(t *testing.T) (prefix string) {
	t.Helper()
	prefix = fmt.Sprintf("ashlarw%d", os.Getpid())
	hub := prefix + "-hub"
	if err := ip("netns", "add", hub); err != nil {
		t.Skipf("NOT RUN: network namespaces are not permitted here: %v", err)
	}
	t.Cleanup(func() { ip("netns", "del", hub) })
	must := func(args ...string) {
		t.Helper()
		if err := ip(args...); err != nil {
			t.Fatal(err)
		}
	}
	must("-n", hub, "link", "set", "lo", "up")
	must("-n", hub, "link", "add", "switch", "type", "bridge")
	must("-n", hub, "address", "add", "192.0.2.100/24", "dev", "switch")
	must("-n", hub, "link", "set", "switch", "up")
	for i := range netHosts {
		name, port := fmt.Sprintf("%s-%d", prefix, i), fmt.Sprint("port", i)
		must("netns", "add", name)
		t.Cleanup(func() { ip("netns", "del", name) })
		must("-n", hub, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name)
		must("-n", hub, "link", "set", port, "master", "switch", "up")
		must("-n", name, "link", "set", "lo", "up")
		must("-n", name, "address", "add", fmt.Sprintf("192.0.2.%d/24", i+1), "dev", "eth0")
		must("-n", name, "link", "set", "eth0", "up")
		lose := exec.Command("ip", "netns", "exec", name, "iptables", "-A", "INPUT", "-i", "eth0", "-p", "tcp",
			"-m", "statistic", "--mode", "random", "--probability", fmt.Sprintf("0.%02d", lossPercent), "-j", "DROP")
		if out, err := lose.CombinedOutput(); err != nil {
			t.Skipf("NOT RUN: packets cannot be lost here: %v: %s", err, out)
		}
	}
	return prefix
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
		if err := ip("link", "set", port, "down"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(r.IntN(1500)) * time.Millisecond)
		if err := ip("link", "set", port, "up"); err != nil {
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
