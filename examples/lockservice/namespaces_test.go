// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/evidence/procs"
)

// lossPercent is how many of the packets each host loses on the way in.
const lossPercent = 5

// TestNamespaces runs every process on a host of its own: a network namespace
// with its own address, joined to the others by a switch that loses packets.
// A client is killed on the way. The traces are a behaviour of the
// specification. All of it is inside namespaces that the test makes and
// removes.
func TestNamespaces(t *testing.T) {
	name := procs.Namespaces(t, clients+1, lossPercent)
	c := newCluster(t, goodSpec, 15*time.Second)
	for i := range clients + 1 {
		c.hosts = append(c.hosts, host{namespace: fmt.Sprint(name, "-", i), address: fmt.Sprint("192.0.2.", i+1)})
	}
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
