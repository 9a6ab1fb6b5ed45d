// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"fmt"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/node"
	"github.com/ashlar-dev/ashlar/worm/tx"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// A server is live as long as a restart would not help: it runs, and its disk has
// not failed. It is ready when it can do its work: it serves a partition of the
// registers, and, unless it hosts no applications, some of the keys can be reached
// through it. What the server believes about its keys is no evidence, because an
// owner that is cut off still believes that it owns them. So it requests keys as a
// client would.

const (
	// While clients ask for its health, the server probes the key store at most
	// once per probeEvery. A probe may take probeWithin; a client waits for it
	// for probeWait.
	probeEvery, probeWithin, probeWait = time.Second, 2 * time.Second, 700 * time.Millisecond
	// keysFresh is how long the keys count as reachable after a probe reached
	// them.
	keysFresh = 10 * time.Second
)

// probe holds the results of probing whether the keys can be reached. It belongs
// to the Serial of the applications.
type probe struct {
	began     time.Time
	reached   time.Time // when a partition answered last
	available int       // partitions that answered the last time
	waiting   []chan struct{}
	running   bool
}

// reach returns how many partitions of the keys can be reached, and whether any was
// reached recently.
func (a *apps) reach() (available int, ok bool) {
	answered := make(chan struct{})
	a.sync(func() {
		p := &a.probe
		if !p.running && (a.client == nil || a.closed || time.Since(p.began) < probeEvery) {
			close(answered)
			return
		}
		p.waiting = append(p.waiting, answered)
		if !p.running {
			p.running, p.began = true, time.Now()
			a.client.Count(probeWithin, a.probed)
		}
	})
	select {
	case <-answered:
	case <-time.After(probeWait):
	}
	a.sync(func() {
		available = a.probe.available
		ok = !a.probe.reached.IsZero() && time.Since(a.probe.reached) < keysFresh
	})
	return available, ok
}

func (a *apps) probed(c tx.Counted) {
	p := &a.probe
	p.running, p.available = false, c.Partitions
	if c.Partitions > 0 {
		p.reached = time.Now()
	}
	for _, w := range p.waiting {
		close(w)
	}
	p.waiting = nil
}

// unready returns why a server is not ready, or "" if it is ready. Hosts is nil if
// the server hosts no applications.
func unready(s *node.Status, hosts *appsView) string {
	switch {
	case s.Failed != nil:
		return "its disk has failed"
	case s.RolledBack != "":
		return "it is mute: " + s.RolledBack
	case s.Full:
		return "its disk is full"
	case s.Draining:
		return "it is shutting down"
	}
	served := func(p node.PartitionStatus) bool { return p.Standing == wor.StatusOK && !p.Unsure }
	foreign := func(p node.PartitionStatus) bool { return p.Standing == wor.StatusForeign }
	if !slices.ContainsFunc(s.Partitions, served) {
		i := slices.IndexFunc(s.Partitions, func(p node.PartitionStatus) bool { return !foreign(p) })
		switch {
		case i < 0:
			return "it is not a member of the cluster"
		case s.Partitions[i].Unsure:
			return "it is asking its peers whether its disk is the newest"
		}
		return fmt.Sprintf("it serves no partition of the registers: %d is %v", s.Partitions[i].Partition, s.Partitions[i].Standing)
	}
	switch {
	case hosts == nil:
		return ""
	case !hosts.Hosting:
		return "it hosts no logs and keys: " + hosts.Trouble
	case !hosts.reachable:
		return "no partition of the keys can be reached"
	}
	return ""
}
