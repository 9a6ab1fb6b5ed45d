// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"io"
	"time"
)

// Options are the options of a World. The zero Options is a world without
// faults.
type Options struct {
	Seed   uint64
	Faults Faults
	// Log receives a line for each event: time, number, node, kind, two numbers
	// and a text. Equal runs write equal lines.
	Log io.Writer
	// LatencyMin and LatencyMax bound the time of a transmission without
	// faults. Default: 50 us and 2 ms.
	LatencyMin, LatencyMax time.Duration
	// StepMax bounds the time from when a task becomes ready to its step.
	// Default: 20 us.
	StepMax time.Duration
	// DialTimeout, WriteTimeout and WriteBuffer (bytes) are those of the
	// network. Default: 5 s, 10 s, 1 MiB.
	DialTimeout, WriteTimeout time.Duration
	WriteBuffer               int
	// DiskCapacity is the capacity of a disk, in bytes. Default: 1 GiB.
	DiskCapacity int64
	// DownMax bounds the number of nodes that faults keep down at one time; 0:
	// all.
	DownMax int
	// Corruptible names the nodes whose disks may lose or damage synced data;
	// nil: all. A protocol promises to survive only some.
	Corruptible []string
	// Hardware, if not nil, makes the work of nodes take time.
	Hardware *Hardware
	// EventsMax bounds a run. Default: 10 million.
	EventsMax uint64
}

func (o Options) complete() (Options, error) {
	or(&o.LatencyMin, 50*time.Microsecond)
	or(&o.LatencyMax, max(2*time.Millisecond, o.LatencyMin))
	or(&o.StepMax, 20*time.Microsecond)
	or(&o.DialTimeout, 5*time.Second)
	or(&o.WriteTimeout, 10*time.Second)
	or(&o.WriteBuffer, 1<<20)
	or(&o.DiskCapacity, 1<<30)
	or(&o.EventsMax, 10_000_000)
	if o.LatencyMin < 0 || o.LatencyMax < o.LatencyMin || o.StepMax < 0 || o.DialTimeout < 0 || o.WriteTimeout < 0 ||
		o.WriteBuffer < 0 || o.DiskCapacity < 0 || o.DownMax < 0 {
		return o, fmt.Errorf("simulation options: nothing may be negative, and LatencyMin %v not above LatencyMax %v", o.LatencyMin, o.LatencyMax)
	}
	for k, r := range o.Faults.rate {
		if r < 0 || !Kind(k).timed() && r > 1 {
			return o, fmt.Errorf("simulation options: the rate %g of %s", r, Kind(k))
		}
	}
	return o, nil
}

func or[T comparable](x *T, def T) {
	var zero T
	if *x == zero {
		*x = def
	}
}
