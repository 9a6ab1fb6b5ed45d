// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"sort"
	"strings"

	"github.com/ashlar-dev/ashlar/env"
)

// OpKind is the kind of an operation of a workload.
type OpKind uint8

// The kinds. Those up to Batch change something and have a moment of their own.
const (
	Put OpKind = iota
	Delete
	DeleteRange
	Merge
	Batch
	Sync
	Flush
	Compact
	Wait // let the store do its idle work
	Checkpoint
	Reopen   // close and open again
	Kill     // open again without a close: the end of the process, not of the machine
	Snapshot // take one, check and close the oldest when there are three
	Scan     // both directions, with seeks, against the model
	Get
	opKinds
)

func (k OpKind) String() string {
	return [...]string{"put", "delete", "deleterange", "merge", "batch", "sync", "flush", "compact", "wait", "checkpoint", "reopen", "kill", "snapshot", "scan", "get"}[k]
}

// Changes reports whether operations of the kind have a moment.
func (k OpKind) Changes() bool { return k <= Batch }

func (k OpKind) restarts() bool { return k == Reopen || k == Kill }

// Op is an operation.
type Op struct {
	Kind     OpKind
	Key, End string
	Size     int    // of the value, in bytes
	Fill     uint64 // what fills it
	Parts    []Op   // of a batch
	Sync     bool   // a commit that is durable when it returns
}

// each calls f for the changes of an operation.
func (o *Op) each(f func(*Op)) {
	if o.Kind != Batch {
		f(o)
		return
	}
	for i := range o.Parts {
		f(&o.Parts[i])
	}
}

func (o *Op) value(pos int) []byte { return value(pos, o.Size, o.Fill) }

func (o *Op) String() string {
	var b strings.Builder
	b.WriteString(o.Kind.String())
	switch o.Kind {
	case Put, Merge:
		fmt.Fprintf(&b, " %q %d bytes", o.Key, o.Size)
	case Delete, Get:
		fmt.Fprintf(&b, " %q", o.Key)
	case DeleteRange, Compact:
		fmt.Fprintf(&b, " %q..%q", o.Key, o.End)
	case Batch:
		for i := range o.Parts {
			b.WriteString(" (" + o.Parts[i].String() + ")")
		}
	}
	if o.Sync {
		b.WriteString(" durable")
	}
	return b.String()
}

// Profile describes a workload. Weights are relative.
type Profile struct {
	Name    string
	Ops     int // how many
	Keys    int // how many different ones
	Weights [opKinds]int
	// Tiny, Middle and Large are weights of value sizes: up to 100 bytes, up
	// to 2 KiB, up to 14 KiB.
	Tiny, Middle, Large int
}

// Profiles are the workloads of the suite.
func Profiles() []Profile {
	w := func(put, del, rng, merge, batch, sync, flush, compact, wait, cp, reopen, kill, snap, scan, get int) [opKinds]int {
		return [opKinds]int{put, del, rng, merge, batch, sync, flush, compact, wait, cp, reopen, kill, snap, scan, get}
	}
	return []Profile{
		{Name: "mixed", Ops: 120, Keys: 24, Weights: w(30, 8, 2, 10, 10, 10, 3, 1, 2, 0, 2, 2, 3, 3, 8), Tiny: 5, Middle: 4, Large: 1},
		{Name: "large", Ops: 70, Keys: 12, Weights: w(40, 6, 2, 4, 8, 10, 3, 1, 2, 1, 2, 2, 2, 2, 6), Tiny: 2, Middle: 3, Large: 5},
		{Name: "syncs", Ops: 60, Keys: 8, Weights: w(30, 8, 2, 10, 10, 30, 2, 0, 1, 0, 3, 3, 1, 1, 4), Tiny: 8, Middle: 2, Large: 0},
		{Name: "trees", Ops: 160, Keys: 40, Weights: w(50, 8, 3, 8, 14, 4, 6, 2, 3, 0, 2, 2, 2, 2, 6), Tiny: 1, Middle: 8, Large: 1},
		{Name: "deep", Ops: 150, Keys: 120, Weights: w(60, 4, 1, 4, 40, 3, 3, 1, 2, 0, 1, 1, 1, 1, 4), Tiny: 1, Middle: 6, Large: 1},
		{Name: "checkpoints", Ops: 50, Keys: 10, Weights: w(30, 6, 3, 8, 8, 4, 8, 3, 2, 3, 4, 2, 2, 2, 4), Tiny: 4, Middle: 4, Large: 2},
	}
}

// keys returns the keys of a workload: short ones, ones with a long common part, and one
// that is a prefix of others.
func (p Profile) keys() []string {
	out := make([]string, p.Keys)
	for i := range out {
		switch i % 4 {
		case 0:
			out[i] = fmt.Sprintf("k%02d", i)
		case 1:
			out[i] = fmt.Sprintf("k%02d/%s", i-1, strings.Repeat("longer-", 1+i%9))
		case 2:
			out[i] = fmt.Sprintf("prefix/that/many/keys/have/in/common/%04d", i)
		default:
			out[i] = fmt.Sprintf("\x00\xff%c", byte(i))
		}
	}
	sort.Strings(out)
	return out
}

// Generate makes the operations of a seed.
func (p Profile) Generate(seed uint64) []Op {
	r := env.Seeded(seed).Split("workload " + p.Name)
	keys := p.keys()
	ops := make([]Op, p.Ops)
	for i := range ops {
		ops[i] = p.op(r, keys, p.Weights)
	}
	return ops
}

func (p Profile) op(r env.Random, keys []string, weights [opKinds]int) Op {
	k := OpKind(weighted(r, weights[:]))
	o := Op{Kind: k}
	key := func() string {
		// Half of the time one of a few, so that versions pile up.
		if r.Uint64()&1 == 0 {
			return keys[env.IntN(r, min(len(keys), 4))*len(keys)/4%len(keys)]
		}
		return keys[env.IntN(r, len(keys))]
	}
	switch k {
	case Put, Merge:
		o.Key, o.Fill = key(), r.Uint64()
		o.Size = p.size(r)
		if k == Merge {
			o.Size = trailer + env.IntN(r, 56)
		}
	case Delete, Get:
		o.Key = key()
	case DeleteRange, Compact:
		a, b := env.IntN(r, len(keys)), env.IntN(r, len(keys))
		a, b = min(a, b), max(a, b)
		if k == DeleteRange && b-a > len(keys)/3 {
			b = a + len(keys)/3
		}
		o.Key, o.End = keys[a], keys[b]+"\x00"
	case Batch:
		only := [opKinds]int{Put: 6, Delete: 2, DeleteRange: 1, Merge: 2}
		for range 1 + env.IntN(r, 6) {
			o.Parts = append(o.Parts, p.op(r, keys, only))
		}
	}
	if k.Changes() && weights[Sync] > 0 { // and not a part of a batch
		o.Sync = env.IntN(r, 8) == 0
	}
	return o
}

func (p Profile) size(r env.Random) int {
	switch weighted(r, []int{p.Tiny, p.Middle, p.Large}) {
	case 0:
		return trailer + env.IntN(r, 100)
	case 1:
		return 100 + env.IntN(r, 2000)
	}
	return 4000 + env.IntN(r, 10000)
}

func weighted(r env.Random, weights []int) int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	n := env.IntN(r, sum)
	for i, w := range weights {
		if n < w {
			return i
		}
		n -= w
	}
	panic("explore: weights without a sum")
}
