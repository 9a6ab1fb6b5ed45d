// SPDX-License-Identifier: Apache-2.0

package paxos

import (
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Client makes the machines of the protocol. The zero Client is that of Paxos;
// a write at ballot zero is then only for a client that knows that no other
// client makes one.
//
// In addition to the contract of wor.Machine: all requests that one call puts
// into the box belong to the round that Step returns after that call, and go to
// different servers. A request sent to several servers is one object, and the
// owner must set Partition and Epoch.
type Client struct {
	// Fast makes ballot zero one at which every client may write, as package
	// fast describes.
	Fast bool
}

var _ wor.Client = Client{}

// Capture captures each register of the range at the ballot.
func (c Client) Capture(n int, r wor.Range, b wor.Ballot) wor.Machine {
	return c.machine(n, wor.KindCapture, r, b, nil)
}

// Write writes the value, which the machine owns from then on, into each
// register of the range at the ballot.
func (c Client) Write(n int, r wor.Range, b wor.Ballot, value []byte) wor.Machine {
	return c.machine(n, wor.KindWrite, r, b, value)
}

// Read reads each register of the range. A register written halfway is written
// again at the same ballot on the servers that lack it, which steals nothing.
func (c Client) Read(n int, r wor.Range) wor.Machine {
	return c.machine(n, wor.KindRead, r, wor.Ballot{}, nil)
}

// Trim puts the tombstone of a segment on a majority.
func (c Client) Trim(n int, s wor.Segment) wor.Machine {
	m := c.machine(n, wor.KindTrim, wor.Range{Segment: s}, wor.Ballot{}, nil)
	m.trimming = true
	return m
}

func (c Client) machine(n int, kind wor.Kind, r wor.Range, b wor.Ballot, value []byte) *machine {
	invariant.Check(n >= 1 && n <= wor.MembersMax, "a configuration of %d servers", n)
	m := &machine{n: n, fast: c.Fast, kind: kind}
	m.first = wor.Request{Kind: kind, Range: r, Ballot: b, Value: value}
	if c.Fast {
		m.first.Protocol = wor.Fast
	}
	if n <= len(m.fewServers) {
		m.servers = m.fewServers[:n]
	} else {
		m.servers = make([]server, n)
	}
	for i := range m.servers {
		m.servers[i].next = r.Lo
	}
	if kind != wor.KindTrim {
		invariant.Check(r.Len() > 0, "no registers in %v", r)
		m.fewSpans[0] = span{lo: r.Lo, hi: r.Hi}
		m.spans, m.left = m.fewSpans[:], r.Len()
	}
	return m
}
