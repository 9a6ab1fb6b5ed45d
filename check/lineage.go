package check

import (
	"encoding/binary"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// lineage remembers of every state how it was reached, so that a trace can be
// shown without computing anything again. A state's record has its parent, its
// action, and how its bytes differ from its parent's: the lengths of what both
// begin and end with, and what stands between. States are numbered in the order
// in which one worker would find them, so parents never decrease from one
// record to the next and are written as the difference; a record of a small
// step takes five to fifteen bytes. Every sampleEvery-th record is indexed.
type lineage struct {
	records arena
	samples []sample
	n       uint32
	parent  uint32 // of the last record
	scratch []byte
}

// sample says where record i*sampleEvery starts and what the parent of the
// record before it is.
type sample struct {
	at     ref
	parent uint32
}

const sampleEvery = 64

// rootAction is the action of an initial state.
const rootAction = -1

// difference appends to dst how child differs from parent.
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
	dst = binary.AppendUvarint(dst, uint64(prefix))
	dst = binary.AppendUvarint(dst, uint64(suffix))
	return append(dst, child[prefix:len(child)-suffix]...)
}

// patch rebuilds the child from its parent and their difference.
func patch(parent, diff []byte) []byte {
	prefix, w := binary.Uvarint(diff)
	diff = diff[w:]
	suffix, w := binary.Uvarint(diff)
	diff = diff[w:]
	child := make([]byte, 0, int(prefix)+len(diff)+int(suffix))
	child = append(child, parent[:prefix]...)
	child = append(child, diff...)
	return append(child, parent[len(parent)-int(suffix):]...)
}

// add records the next state. The parent of an initial state is 0, and its
// difference is from the empty string.
func (l *lineage) add(parent uint32, action int, diff []byte) {
	invariant.Check(parent >= l.parent, "the parent %d follows %d", parent, l.parent)
	head := binary.AppendUvarint(l.scratch[:0], uint64(parent-l.parent))
	head = binary.AppendUvarint(head, uint64(action+1))
	l.scratch = head
	at := l.records.put(head, diff)
	if l.n%sampleEvery == 0 {
		l.samples = append(l.samples, sample{at: at, parent: l.parent})
	}
	l.parent = parent
	l.n++
}

// record finds the parent, the action and the difference of state i.
func (l *lineage) record(i uint32) (parent uint32, action int, diff []byte) {
	s := l.samples[i/sampleEvery]
	block, offset := int(s.at>>refOffsetBits), int(s.at&(1<<refOffsetBits-1))
	rest := l.records.blocks[block][offset:]
	parent = s.parent
	for k := i / sampleEvery * sampleEvery; ; k++ {
		for len(rest) == 0 {
			block++
			rest = l.records.blocks[block]
		}
		var head []byte
		head, rest = cut(rest)
		diff, rest = cut(rest)
		gap, w := binary.Uvarint(head)
		parent += uint32(gap)
		if k == i {
			a, _ := binary.Uvarint(head[w:])
			return parent, int(a) - 1, diff
		}
	}
}

// path lists how state i was reached, from an initial state to itself.
func (l *lineage) path(i uint32) []Step {
	var steps []Step
	var diffs [][]byte
	for {
		parent, action, diff := l.record(i)
		steps = append(steps, Step{Action: action})
		diffs = append(diffs, diff)
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
	return steps
}

// size is how many bytes the lineage takes.
func (l *lineage) size() int64 { return l.records.size() + int64(cap(l.samples))*16 }
