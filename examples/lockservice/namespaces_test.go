// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// lossPercent is how many of the packets each host loses on the way in.
const lossPercent = 5

// TestNamespaces runs every process on a host of its own: a network namespace
// with its own address, joined to the others by a switch that loses packets.
// A client is killed on the way. The traces are a behaviour of the
// specification. All of it is inside namespaces that the test makes and
// removes.
func TestNamespaces(t *testing.T) {
	hosts := newHosts(t, clients+1)
	c := newCluster(t, goodSpec, 15*time.Second)
	c.hosts = hosts
	if err := c.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	// How long it takes depends on which packets are lost. A client that is
	// killed while it has the lock takes it along, so that nothing may follow.
	c.awaitSections(t, 50)
	c.kill("client3")
	if err := c.wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d sections with %d%% of all packets lost", c.sections(), lossPercent)
	t.Log(checkTraces(t, c, 0))
}

// newHosts makes n network namespaces on one switch, which is a namespace too.
// Where that is not permitted the test does not run, and says so.
func newHosts(t *testing.T, n int) []host {
	t.Helper()
	ip := func(args ...string) error {
		out, err := exec.Command("ip", args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("ip %v: %w: %s", args, err, out)
		}
		return nil
	}
	prefix := fmt.Sprintf("ashlar%d", os.Getpid())
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
	must("-n", hub, "link", "add", "switch", "type", "bridge")
	must("-n", hub, "link", "set", "switch", "up")
	var hosts []host
	for i := range n {
		h := host{namespace: fmt.Sprintf("%s-%d", prefix, i), address: fmt.Sprintf("192.0.2.%d", i+1)}
		port := fmt.Sprintf("port%d", i)
		must("netns", "add", h.namespace)
		t.Cleanup(func() { ip("netns", "del", h.namespace) })
		must("-n", hub, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", h.namespace)
		must("-n", hub, "link", "set", port, "master", "switch", "up")
		must("-n", h.namespace, "link", "set", "lo", "up")
		must("-n", h.namespace, "address", "add", h.address+"/24", "dev", "eth0")
		must("-n", h.namespace, "link", "set", "eth0", "up")
		lose := exec.Command("ip", "netns", "exec", h.namespace, "iptables", "-A", "INPUT", "-i", "eth0", "-p", "tcp",
			"-m", "statistic", "--mode", "random", "--probability", fmt.Sprintf("0.%02d", lossPercent), "-j", "DROP")
		if out, err := lose.CombinedOutput(); err != nil {
			t.Skipf("NOT RUN: packets cannot be lost here: %v: %s", err, out)
		}
		hosts = append(hosts, h)
	}
	return hosts
}
