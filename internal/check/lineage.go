// SPDX-License-Identifier: Apache-2.0

package check

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/ashlar-dev/ashlar/internal/check/spill"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// lineage remembers how every state was reached, so that a trace can be shown
// without evaluating the model again. The record of a state has its parent, its
// action, and the difference between its bytes and its parent's. States are
// numbered in the order in which one worker would find them, so parents never
// decrease from one record to the next; a record stores the increase, in one
// number with the action. The record of a small step takes five to ten bytes.
// Records are on a tape, which moves to disk when memory is short. Some records
// are indexed, at least the first of each block.
type lineage struct {
	tape    *spill.Tape
	codes   uint64 // the number of actions, including the initial one
	samples []sample
	n       uint32 // records
	parent  uint32 // of the last record
	// reading is held while the tape is read in the middle of a segment: workers ask
	// for paths, one at a time. No other lock is taken while it is held.
	reading sync.Mutex
}

// lineageName is the name of the tape's file.
const lineageName = "lineage"

// sample has the position of a record and the parent of the record before it.
// Records up to the next sample are in the same block.
type sample struct {
	Number uint32 `json:"number"`
	Parent uint32 `json:"parent"`
	Block  uint32 `json:"block"`
	Offset uint32 `json:"offset"`
}

// sampleEvery is the minimum number of records between two samples of a block.
const sampleEvery = 256

// rootAction is the action of an initial state.
const rootAction = -1

func newLineage(tape *spill.Tape, actions int) *lineage {
	return &lineage{tape: tape, codes: uint64(actions) + 1}
}

// difference appends to dst how child differs from parent: the length of the
// common start, and whether both have the same length; the length of the part
// of child between the common start and the common end; the length of the
// common end, unless it follows from the others; and the bytes between.
func difference(dst, parent, child []byte) []byte {
	short := min(len(parent), len(child))
	prefix := 0
	for prefix+8 <= short && binary.LittleEndian.Uint64(parent[prefix:]) == binary.LittleEndian.Uint64(child[prefix:]) {
		prefix += 8
	}
	for prefix < short && parent[prefix] == child[prefix] {
		prefix++
	}
	suffix := 0
	for suffix < short-prefix && parent[len(parent)-1-suffix] == child[len(child)-1-suffix] {
		suffix++
	}
	middle := child[prefix : len(child)-suffix]
	if len(parent) == len(child) {
		dst = binary.AppendUvarint(dst, uint64(prefix)<<1|1)
		dst = binary.AppendUvarint(dst, uint64(len(middle)))
	} else {
		dst = binary.AppendUvarint(dst, uint64(prefix)<<1)
		dst = binary.AppendUvarint(dst, uint64(len(middle)))
		dst = binary.AppendUvarint(dst, uint64(suffix))
	}
	return append(dst, middle...)
}

// split takes a difference off the front of b. It needs the parent's length to
// compute the length of the common end.
func split(b []byte, parent int) (prefix, suffix int, middle, rest []byte) {
	p, w := binary.Uvarint(b)
	b = b[w:]
	m, w := binary.Uvarint(b)
	b = b[w:]
	prefix = int(p >> 1)
	if p&1 == 1 {
		suffix = parent - prefix - int(m)
	} else {
		s, w := binary.Uvarint(b)
		suffix, b = int(s), b[w:]
	}
	return prefix, suffix, b[:m:m], b[m:]
}

// patch rebuilds the child from its parent and their difference, which is at
// the start of diff.
func patch(parent, diff []byte) []byte {
	prefix, suffix, middle, _ := split(diff, len(parent))
	child := make([]byte, 0, prefix+len(middle)+suffix)
	child = append(child, parent[:prefix]...)
	child = append(child, middle...)
	return append(child, parent[len(parent)-suffix:]...)
}

// appendCode appends the part of a record before its difference: how much
// greater its parent is than the one before, and its action.
func (l *lineage) appendCode(dst []byte, gap uint32, action int) []byte {
	return binary.AppendUvarint(dst, uint64(gap)*l.codes+uint64(action+1))
}

// add writes n records: parent and action are those of the first, records has
// its difference and then the other records in full, and last is the parent of
// the last record. The parent of an initial state is 0, and its difference is
// from the empty string.
func (l *lineage) add(n int, parent uint32, action int, records []byte, last uint32) {
	invariant.Check(parent >= l.parent, "the parent %d follows %d", parent, l.parent)
	if invariant.Enabled {
		invariant.Check(l.reading.TryLock(), "the lineage grows while it is read")
		defer l.reading.Unlock()
	}
	var head [binary.MaxVarintLen64]byte
	block, offset := l.tape.Append(n, l.appendCode(head[:0], parent-l.parent, action), records)
	if k := len(l.samples); k == 0 || l.samples[k-1].Block != uint32(block) || l.n-l.samples[k-1].Number >= sampleEvery {
		l.samples = append(l.samples, sample{Number: l.n, Parent: l.parent, Block: uint32(block), Offset: uint32(offset)})
	}
	l.parent = last
	l.n += uint32(n)
}

// blockReader keeps the block that it read last.
type blockReader struct {
	tape  *spill.Tape
	block int
	data  []byte
}

func (r *blockReader) read(block int) ([]byte, error) {
	if r.data == nil || r.block != block {
		data, err := r.tape.Read(block)
		if err != nil {
			return nil, err
		}
		r.block, r.data = block, data
	}
	return r.data, nil
}

// record finds the parent, the action and the difference of state i.
func (l *lineage) record(r *blockReader, i uint32) (parent uint32, action int, diff []byte, err error) {
	s := l.samples[sort.Search(len(l.samples), func(k int) bool { return l.samples[k].Number > i })-1]
	rest, err := r.read(int(s.Block))
	if err != nil {
		return 0, 0, nil, err
	}
	rest = rest[s.Offset:]
	parent = s.Parent
	for k := s.Number; ; k++ {
		code, w := binary.Uvarint(rest)
		rest = rest[w:]
		parent += uint32(code / l.codes)
		if k == i {
			return parent, int(code%l.codes) - 1, rest, nil
		}
		_, _, _, rest = split(rest, 0)
	}
}

// path lists how state i was reached, from an initial state to itself.
// It is safe for concurrent use as long as the lineage does not grow.
func (l *lineage) path(i uint32) ([]Step, error) {
	l.reading.Lock()
	defer l.reading.Unlock()
	var steps []Step
	var diffs [][]byte
	r := &blockReader{tape: l.tape}
	for {
		parent, action, diff, err := l.record(r, i)
		if err != nil {
			return nil, fmt.Errorf("rebuild a trace: %w", err)
		}
		steps = append(steps, Step{Action: action})
		_, _, _, rest := split(diff, 0)
		diffs = append(diffs, slices.Clone(diff[:len(diff)-len(rest)]))
		if action == rootAction {
			break
		}
		i = parent
	}
	slices.Reverse(steps)
	slices.Reverse(diffs)
	var state []byte
	for k := range steps {
		state = patch(state, diffs[k])
		steps[k].State = state
	}
	return steps, nil
}

// size is the size of the lineage in memory, and stored its size on disk.
func (l *lineage) size() int64   { return l.tape.Held() + int64(cap(l.samples))*16 }
func (l *lineage) stored() int64 { return l.tape.Stored() }

// spill moves the lineage to disk if it takes more than room bytes.
func (l *lineage) spill(room int64) error {
	if l.size() <= room {
		return nil
	}
	return l.tape.Store(true, 0)
}

// save fills in the fields of a checkpoint, except the tape.
func (l *lineage) save(m *manifest) {
	m.Records, m.Parent = l.n, l.parent
	for i, x := range l.samples {
		if i == 0 || x.Block != l.samples[i-1].Block {
			m.Samples = append(m.Samples, x)
		}
	}
}

// restore takes over the fields of a checkpoint, except the tape.
func (l *lineage) restore(m *manifest) { l.n, l.parent, l.samples = m.Records, m.Parent, m.Samples }

// taped is the tape with its place in a checkpoint.
func (l *lineage) taped(m *manifest) taped { return taped{&l.tape, 0, &m.Lineage} }
