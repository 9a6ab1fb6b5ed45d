// SPDX-License-Identifier: Apache-2.0

package paxos

import (
	"bytes"
	"slices"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// span is a run of neighbouring registers in the same state.
type span struct {
	lo, hi uint32
	done   bool
	status wor.Status // when done
	// yes are the servers that promised or accepted, or of a read hold a value at
	// accepted; no those that refused. Of a read, seen are those that answered
	// and none those of them that showed nothing.
	yes, no, seen, none mask
	conflict            bool // another value was seen at the ballot of the write
	fixing              bool // for a read: value is being sent to servers that lack it
	written             bool
	accepted            wor.Ballot // the highest seen
	promised            wor.Ballot // the highest that any server promised
	value               []byte
	zero                []vote // of protocol fast: what was seen at ballot zero
}

// vote is a value at ballot zero and the servers that were seen to hold it.
type vote struct {
	value []byte
	by    mask
}

func (x *span) same(y *span) bool {
	return x.accepted == y.accepted && bytes.Equal(x.value, y.value)
}

// lacks reports whether the value must be sent to the server.
func (x *span) lacks(i int) bool {
	return x.fixing && !x.done && (x.yes|x.no)>>i&1 == 0
}

// run is the result.
func (x *span) run() wor.Run {
	run := wor.Run{Count: x.hi - x.lo, Status: wor.StatusTrimmed}
	if !x.done {
		return run
	}
	run.Status = x.status
	if x.status == wor.StatusOK {
		run.Written, run.Accepted, run.Value = x.written, x.accepted, x.value
	} else {
		run.Promised = x.promised
	}
	return run
}

// at is the index of the span that has the register, or of the one after all.
func (m *machine) at(register uint32) int {
	lo, hi := 0, len(m.spans)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); m.spans[mid].hi <= register {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// apply applies a server's answer about the registers from the request's first
// on. Spans are split where runs end.
func (m *machine) apply(from int, q *wor.Request, runs []wor.Run) {
	lo := q.Range.Lo
	first := m.at(lo)
	if x := &m.spans[first]; len(runs) == 1 && lo == x.lo && runs[0].Count >= x.hi-x.lo && first+1 == len(m.spans) {
		m.learn(x, from, q, &runs[0])
		return
	}
	fresh, at := m.spare[:0], first
	x := m.spans[at]
	if x.lo < lo {
		fresh = append(fresh, x.split(lo))
	}
	for i := range runs {
		for end := lo + runs[i].Count; lo < end; {
			part := x.split(min(x.hi, end))
			m.learn(&part, from, q, &runs[i])
			fresh = append(fresh, part)
			if lo = part.hi; x.lo == x.hi {
				if at++; at < len(m.spans) {
					x = m.spans[at]
				}
			}
		}
	}
	if at < len(m.spans) && x.lo > m.spans[at].lo {
		fresh = append(fresh, x)
		at++
	}
	m.spans, m.spare = slices.Replace(m.spans, first, at, fresh...), fresh
}

// split takes the registers up to end away from x and returns them.
func (x *span) split(end uint32) span {
	left := *x
	left.zero = slices.Clone(x.zero)
	left.hi, x.lo = end, end
	return left
}

// learn applies a server's answer about a span, and settles the span if that is
// enough.
func (m *machine) learn(x *span, from int, q *wor.Request, run *wor.Run) {
	if run.Status == wor.StatusTrimmed {
		m.trimming = true
		m.tombs |= 1 << from
		return
	}
	if x.done {
		return
	}
	if x.promised.Less(run.Promised) {
		x.promised = run.Promised
	}
	switch {
	case m.kind != wor.KindRead:
		m.granted(x, from, run)
	case q.Kind == wor.KindRead:
		m.shown(x, from, run)
	case q.Ballot == x.accepted && run.Status == wor.StatusOK:
		x.yes |= 1 << from
		if m.fast && len(x.zero) > 0 {
			x.zero[0].by |= 1 << from
		}
	case q.Ballot == x.accepted:
		x.no |= 1 << from
	}
	m.settle(x)
}

// granted: the server granted a capture or a write.
func (m *machine) granted(x *span, from int, run *wor.Run) {
	if run.Status != wor.StatusOK {
		x.no |= 1 << from
		x.conflict = x.conflict || run.Status == wor.StatusConflict
		return
	}
	x.yes |= 1 << from
	if m.kind == wor.KindCapture && run.Written {
		x.see(m.fast, from, run)
	}
}

// shown: the server answered a read.
func (m *machine) shown(x *span, from int, run *wor.Run) {
	x.seen |= 1 << from
	switch {
	case !run.Written:
		x.none |= 1 << from
		return
	case !x.written || x.accepted.Less(run.Accepted):
		x.yes, x.no = 1<<from, 0 // what was refused was of a lower ballot
	case x.accepted == run.Accepted:
		x.yes |= 1 << from
	}
	x.see(m.fast, from, run)
}

// see records a value that a server has accepted.
func (x *span) see(fast bool, from int, run *wor.Run) {
	if !x.written || x.accepted.Less(run.Accepted) {
		x.written, x.accepted, x.value = true, run.Accepted, run.Value
	}
	if !fast || !run.Accepted.IsZero() {
		return
	}
	for i := range x.zero {
		if bytes.Equal(x.zero[i].value, run.Value) {
			x.zero[i].by |= 1 << from
			return
		}
	}
	x.zero = append(x.zero, vote{run.Value, 1 << from})
}
