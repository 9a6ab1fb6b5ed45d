// SPDX-License-Identifier: Apache-2.0

package trunk

import (
	"encoding/binary"
	"math"
	"os"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// even is what a simulated branch has: so many bytes, evenly spread over keys from lo up to
// but not with hi, which are numbers.
type even struct {
	lo, hi float64
	bytes  float64
}

// number is that of a key, and without one it is open.
func number(key []byte, open float64) float64 {
	if key == nil {
		return open
	}
	var b [8]byte
	copy(b[:], key)
	return float64(binary.BigEndian.Uint64(b[:]))
}

func simulatedKey(n float64) []byte {
	if n >= math.Exp2(64) {
		return []byte{255, 255, 255, 255, 255, 255, 255, 255}
	}
	return binary.BigEndian.AppendUint64(nil, uint64(n))
}

func (e even) within(lo, hi []byte) float64 {
	from, to := max(e.lo, number(lo, 0)), min(e.hi, number(hi, math.Exp2(64)))
	return max(0, to-from) / (e.hi - e.lo) * e.bytes
}

func (e even) Overlaps(lo, hi []byte) bool { return e.within(lo, hi) >= 1 }

func (e even) Over(lo, hi []byte) message.Seq { return 0 }

func (e even) Span(lo, hi []byte) (size int64, blocks int) {
	n := e.within(lo, hi)
	return int64(n), int(n)/4096 + 1
}

// load is a simulated load of new keys, by a real trunk.
type load struct {
	t        *testing.T
	trunk    *Trunk
	id       uint64
	seq      message.Seq
	attached float64
	merged   float64 // written by merges
	branches int     // the most there were
}

func newLoad(t *testing.T, shape Shape) *load {
	l := &load{t: t}
	l.trunk = New(shape, l.next)
	return l
}

func (l *load) next() uint64 { l.id++; return l.id }

func (l *load) branch(e even, from, to message.Seq) *Branch {
	b := &Branch{keys: e, Meta: branch.Meta{ID: l.next(), Lo: simulatedKey(e.lo), Hi: simulatedKey(e.hi)}}
	if e.hi < math.Exp2(64) {
		b.Meta.Hi = simulatedKey(e.hi - 4096) // the greatest key is below the bound
	}
	b.Meta.Bytes, b.Meta.Records, b.Meta.MinSeq, b.Meta.MaxSeq = uint64(e.bytes), uint64(e.bytes/100), from, to
	return b
}

// attach adds a memtable's branch and does all that is due then.
func (l *load) attach(e even) {
	l.seq++
	l.attached += e.bytes
	l.trunk.Attach(l.branch(e, l.seq, l.seq))
	for n := 0; ; n++ {
		j := l.trunk.Next(Policy{Alpha: 2})
		l.trunk.Gone()
		if l.branches = max(l.branches, len(l.trunk.refs)); j == nil {
			return
		}
		if n > 100_000 {
			l.t.Fatalf("there is always something to do: %+v", j)
		}
		l.run(j)
	}
}

func (l *load) run(j *Job) {
	if j.Flush {
		if !l.trunk.Flush(j) {
			l.t.Fatal("a fresh flush is refused")
		}
		return
	}
	all := even{lo: math.Exp2(64)}
	from, to := message.Seq(message.MaxSeq), message.Seq(0)
	for _, r := range j.Inputs {
		e := r.Branch.keys.(even)
		all.lo, all.hi = min(all.lo, max(e.lo, number(j.Lo, 0))), max(all.hi, min(e.hi, number(j.Hi, math.Exp2(64))))
		all.bytes += e.within(j.Lo, j.Hi)
		from, to = min(from, r.Branch.Meta.MinSeq), max(to, r.Branch.Meta.MaxSeq)
	}
	l.merged += all.bytes
	var outputs []*Branch
	parts := max(j.Parts, 1)
	for i := range parts {
		width := (all.hi - all.lo) / float64(parts)
		part := even{lo: all.lo + float64(i)*width, hi: all.lo + float64(i+1)*width, bytes: all.bytes / float64(parts)}
		outputs = append(outputs, l.branch(part, from, to))
	}
	if !l.trunk.Commit(j, outputs) {
		l.t.Fatal("a fresh merge is refused")
	}
}

// The tree of a store of 24 MiB of memory with much more data: however they come, there are about
// as many branches as there is memory for, and merges do not write much more for it. `make soak` does it
// with a hundred gigabytes.
func TestBranchesAreBounded(t *testing.T) {
	const memtable = 3 << 20
	partitions, data, merged := 64, 3e9, 5.0
	if os.Getenv("ASHLAR_SOAK") != "" {
		partitions, data, merged = 512, 100e9, 8
	}
	end := math.Exp2(64)
	for _, c := range []struct {
		name string
		// keys is the range of the keys of the part of the load from a to b.
		keys func(a, b float64) (lo, hi float64)
		// What there is at most: branches for each partition that there is meant to be, and bytes written
		// by merges for each byte.
		branches, merged float64
	}{
		{"in any order", func(a, b float64) (float64, float64) { return 0, end }, 4, merged},
		{"in order", func(a, b float64) (float64, float64) { return a * end, b * end }, 2.1, 3},
		{"in reverse", func(a, b float64) (float64, float64) { return end - b*end, end - a*end }, 2.1, 3.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLoad(t, Shape{Fanout: 24, LeafBytes: memtable / 2, Runs: 12, Partitions: partitions})
			for l.attached < data {
				lo, hi := c.keys(l.attached/data, min(1, (l.attached+memtable)/data))
				l.attach(even{lo, hi, memtable})
			}
			if err := l.trunk.Root().Validate(); err != nil {
				t.Fatal(err)
			}
			most, refs := l.trunk.Counts()
			t.Logf("%.0f GB: %d partitions, at most %d branches, now %d with %d references, %d levels, runs %d, merges wrote %.2f bytes for each",
				l.attached/1e9, l.trunk.Root().Weight().Partitions, l.branches, most, refs, l.trunk.Root().Level+1, l.trunk.Runs(), l.merged/l.attached)
			if ratio := float64(l.branches) / float64(partitions); ratio > c.branches {
				t.Errorf("there were %d branches, %.1f for each partition that there is meant to be", l.branches, ratio)
			}
			if ratio := l.merged / l.attached; ratio > c.merged {
				t.Errorf("merges wrote %.2f bytes for each, the bound is %.1f", ratio, c.merged)
			}
		})
	}
}
