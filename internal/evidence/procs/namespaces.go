// SPDX-License-Identifier: Apache-2.0

//go:build unix

package procs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Namespaces makes network namespaces that last as long as the test: NAME-hub, with a switch
// and the address 192.0.2.100, and NAME-0 to NAME-(n-1), each of which is on a port of the
// switch: number I has the address 192.0.2.(I+1), is on port I, and loses some of the packets
// that arrive. If namespaces are not permitted, Namespaces skips the test and reports why.
func Namespaces(t testing.TB, n, lossPercent int) (name string) {
	t.Helper()
	add := func(namespace string) error {
		err := IP("netns", "add", namespace)
		if err == nil {
			t.Cleanup(func() { _ = IP("netns", "del", namespace) })
		}
		return err
	}
	var hub string
	for n := range namespacesMax {
		name = fmt.Sprintf("ashlar%d.%d", os.Getpid(), n)
		hub = name + "-hub"
		err := add(hub)
		if err == nil {
			break
		}
		if why := unavailable(err); why != "" {
			t.Skipf("NOT RUN: %s: %v", why, err)
		}
		// Another test of this process may have the name, or one that was killed.
		if n == namespacesMax-1 || !strings.Contains(err.Error(), "File exists") {
			t.Fatal(err)
		}
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
			"-m", "statistic", "--mode", "random", "--probability", probability(lossPercent), "-j", "DROP"); err != nil {
			if why := unavailable(err); why != "" {
				t.Skipf("NOT RUN: %s: %v", why, err)
			}
			t.Fatal(err)
		}
	}
	return name
}

// namespacesMax is the number of sets of namespaces that a process may have at once.
const namespacesMax = 100

// kernelLacks are the messages of iptables, through either of its interfaces to the kernel, for
// a missing kernel module. They do not include its messages for wrong arguments.
var kernelLacks = []string{
	"No chain/target/match by that name", "missing kernel module", "Table does not exist", "Failed to initialize nft", "Could not fetch rule set generation id",
}

// unavailable returns the reason why there can be no namespaces here, if the error of ip shows
// one.
func unavailable(err error) string {
	switch text := err.Error(); {
	case errors.Is(err, exec.ErrNotFound):
		return "there is no command ip"
	case strings.Contains(text, `exec of "iptables" failed: No such file or directory`): // as ip writes it
		return "there is no command iptables"
	case strings.Contains(text, "Operation not permitted"), strings.Contains(text, "Permission denied"):
		return "network namespaces are not permitted here"
	}
	for _, lacks := range kernelLacks {
		if strings.Contains(err.Error(), lacks) {
			return "the kernel cannot lose packets here"
		}
	}
	return ""
}

// probability formats percent for iptables.
func probability(percent int) string { return fmt.Sprintf("%.2f", float64(percent)/100) }

// IP runs the command ip.
func IP(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %v: %w: %s", args, err, out)
	}
	return nil
}
