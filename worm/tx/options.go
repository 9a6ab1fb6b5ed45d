// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"errors"
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Resource is what the RMs of a process manage. The Engine calls it; only the
// Resource calls the Engine's Open.
type Resource interface {
	// Prepare asks an RM whether it can do its part of a transaction. If it
	// returns yes, it must keep everything that the part needs locked until
	// Finish. Brief and redo become those of the vote; if it returns no, brief
	// is the reason.
	Prepare(rm RM, id ID, order uint64, part []byte) (brief, redo []byte, yes bool)
	// Finish reports the outcome of a transaction for which Prepare returned
	// yes: once, unless the RM is lost before.
	Finish(rm RM, id ID, o *Outcome)
	// Lost reports that another process owns the RM now, or may: that process
	// finishes the unfinished transactions. The Resource must drop the RM.
	Lost(rm RM)
}

// Options are the options of an Engine. Those without a default are required.
type Options struct {
	Env env.Env // Clock, Random; the Tracer receives Began and Learned
	// Serial is the Serial of the Space and the Messenger.
	Serial    *env.Serial
	Space     wor.Space
	Messenger wor.Messenger
	// Self is this process, with the address at which other processes reach it.
	Self     wor.Member
	Resource Resource
	Variant  Variant // default E3
	// Instance separates the segments of engines on one Space: 1 to 32767. All
	// processes of an engine have the same.
	Instance uint16
	// RMs is the number of RMs. It must never change.
	RMs int
	// Managers are the processes where a TM may run, for A8 to D4.
	Managers []wor.Member
	// Partitions is the number of partitions of the Space over which segments
	// are spread; default 1. Protocol is the protocol of the segments; default
	// Paxos.
	Partitions int
	Protocol   wor.Protocol
	// SegmentSize is the number of registers of a segment of votes; default
	// 32768, at least 16. Half of them are for transactions of several RMs.
	SegmentSize uint32
	// SegmentBytes is the approximate number of bytes of votes in one segment
	// before the next is begun; default 32 MiB.
	SegmentBytes int64
	// ResolveAfter is how long to wait for a vote before reading its register;
	// after twice that, a missing vote is decided as NO. Default 400 ms; it
	// grows when votes take longer.
	ResolveAfter time.Duration
}

func (o Options) complete() (Options, error) {
	if o.Variant == 0 {
		o.Variant = E3
	}
	if o.Partitions == 0 {
		o.Partitions = 1
	}
	if o.SegmentSize == 0 {
		o.SegmentSize = 1 << 15
	}
	if o.SegmentBytes == 0 {
		o.SegmentBytes = 32 << 20
	}
	if o.ResolveAfter == 0 {
		o.ResolveAfter = 400 * time.Millisecond
	}
	switch {
	case !o.Variant.Valid():
		return o, fmt.Errorf("Options.Variant: unknown variant %v", o.Variant)
	case o.Instance == 0 || o.Instance > 1<<15-1:
		return o, fmt.Errorf("Options.Instance must be 1 to 32767, got %d", o.Instance)
	case o.RMs < 1 || o.RMs > 1<<15:
		return o, fmt.Errorf("Options.RMs must be 1 to 32768, got %d", o.RMs)
	case o.SegmentSize < 16 || o.SegmentSize > 1<<20:
		return o, fmt.Errorf("Options.SegmentSize must be 16 to %d, got %d", 1<<20, o.SegmentSize)
	case o.Serial == nil || o.Space == nil || o.Messenger == nil || o.Resource == nil || o.Env.Clock == nil || o.Env.Random == nil:
		return o, errors.New("Options: Env, Serial, Space, Messenger and Resource are needed")
	case policies[o.Variant].manager && len(o.Managers) == 0:
		return o, fmt.Errorf("variant %v needs Options.Managers", o.Variant)
	}
	return o, nil
}

// Began and Learned are events for the Tracer: a transaction was begun here; an
// RM here learned its outcome and has applied it.
type (
	Began   struct{ ID ID }
	Learned struct {
		RM     RM
		ID     ID
		Commit bool
	}
)

// EventName is the event's name.
func (Began) EventName() string { return "Began" }

// EventName is the event's name.
func (Learned) EventName() string { return "Learned" }
