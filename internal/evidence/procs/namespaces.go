// SPDX-License-Identifier: Apache-2.0

//go:build unix

package procs

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// Namespaces makes network namespaces that last as long as the test: NAME-hub, with a
// switch and the address 192.0.2.100, and NAME-0 to NAME-(n-1), of which each is on a
// port of the switch: I has the address 192.0.2.(I+1), is on port I, and loses some of
// the packets that come to it. Where that is not permitted the test does not run, and
// says so.
func Namespaces(t testing.TB, n, lossPercent int) (name string) {
	t.Helper()
	name = fmt.Sprint("ashlar", os.Getpid())
	hub := name + "-hub"
	add := func(namespace string) error {
		err := IP("netns", "add", namespace)
		if err == nil {
			t.Cleanup(func() { _ = IP("netns", "del", namespace) })
		}
		return err
	}
	if err := add(hub); err != nil {
		t.Skipf("NOT RUN: network namespaces are not permitted here: %v", err)
	}
	must := func(args ...string) {
		t.Helper()
		if err := IP(args...); err != nil {
			t.Fatal(err)
		}
	}
	must("-n", hub, "link", "set", "lo", "up")
	must("-n", hub, "link", "add", "switch", "type", "bridge")
	must("-n", hub, "address", "add", "192.0.2.100/24", "dev", "switch")
	must("-n", hub, "link", "set", "switch", "up")
	for i := range n {
		host, port := fmt.Sprint(name, "-", i), fmt.Sprint("port", i)
		if err := add(host); err != nil {
			t.Fatal(err)
		}
		must("-n", hub, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", host)
		must("-n", hub, "link", "set", port, "master", "switch", "up")
		must("-n", host, "link", "set", "lo", "up")
		must("-n", host, "address", "add", fmt.Sprintf("192.0.2.%d/24", i+1), "dev", "eth0")
		must("-n", host, "link", "set", "eth0", "up")
		if err := IP("netns", "exec", host, "iptables", "-A", "INPUT", "-i", "eth0", "-p", "tcp",
			"-m", "statistic", "--mode", "random", "--probability", fmt.Sprintf("0.%02d", lossPercent), "-j", "DROP"); err != nil {
			t.Skipf("NOT RUN: packets cannot be lost here: %v", err)
		}
	}
	return name
}

// IP runs the command ip.
func IP(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %v: %w: %s", args, err, out)
	}
	return nil
}
