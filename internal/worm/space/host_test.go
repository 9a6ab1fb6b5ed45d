// SPDX-License-Identifier: Apache-2.0

package space_test

import (
	"bytes"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/worm/group"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// host is one server: a disk that never forgets, behind a network that loses messages.
type host struct {
	l        *lab
	member   wor.Member
	down     bool
	hearings []*hearing
	groups   []*group.Group
}

func (l *lab) newHost() *host {
	id := wor.ServerID(l.random.Uint64())
	h := &host{l: l, member: wor.Member{ID: id, Name: id.String(), Addr: id.String()}}
	l.hosts = append(l.hosts, h)
	return h
}

func (h *host) boot() {
	for p := range h.l.genesis.Partitions {
		h.groups = append(h.groups, group.New(h.member.ID, h.l.genesis, wor.Partition(p)))
	}
}

// handle answers a request; neither side keeps memory of the other's.
func (h *host) handle(q *wor.Request) *wor.Reply {
	r := &wor.Reply{}
	if int(q.Partition) >= len(h.groups) {
		r.Status = wor.StatusForeign
		return r
	}
	var log wor.Log
	asked := *q
	h.groups[q.Partition].Handle(q, r, &log)
	if asked.Kind == wor.KindWrite {
		off := asked.Range.Lo
		for _, run := range r.Runs {
			for range run.Count {
				if run.Status == wor.StatusOK {
					a := wor.Addr{Segment: asked.Range.Segment, Offset: off}
					h.tell(wor.Note{Partition: asked.Partition, Epoch: asked.Epoch, Addr: a, Ballot: asked.Ballot, Value: bytes.Clone(asked.Value)})
				}
				off++
			}
		}
	}
	c := *r
	c.Value = bytes.Clone(r.Value)
	c.Runs = nil
	for _, run := range r.Runs {
		run.Value = bytes.Clone(run.Value)
		c.Runs = append(c.Runs, run)
	}
	return &c
}

func (h *host) tell(n wor.Note) {
	for _, x := range slices.Clone(h.hearings) {
		if x.q.Partition == n.Partition && x.q.Epoch == n.Epoch && x.q.Range.Segment == n.Addr.Segment &&
			n.Addr.Offset >= x.q.Range.Lo && n.Addr.Offset < x.q.Range.Hi {
			x.tell(n)
		}
	}
}

// hang drops the registrations of listeners, as a restart does.
func (h *host) hang() {
	for _, x := range h.hearings {
		x.c.serial.Do(x.gap)
		x.c.l.at(5*1e6, x.register)
	}
	h.hearings = nil
}
