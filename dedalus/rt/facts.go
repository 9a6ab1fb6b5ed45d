// SPDX-License-Identifier: Apache-2.0

package rt

import "slices"

// Facts records which rows of a relation hold, and why. It knows rows by number; their
// columns are stored elsewhere.
//
// A row can have these kinds of support: a counted number of derivations by standing
// rules; a counted number of derivations by next rules in this tick, which make it hold
// in the next one; being carried into this tick; messages and rules of this tick only
// (pulses); and, in a recursive relation, derivation from other rows of its group.
//
// In a tick, the caller changes the supports. Settle then computes Changes: the rows that
// began or ceased to hold. At the end, Finish removes the support that was for this tick
// only. A row that has ceased to hold stays stored until Finish, so that rules can still
// see what held before.
type Facts struct {
	meta []meta
	// dirty lists the rows whose support has changed since the last Finish, or
	// will change in this tick.
	dirty, spare []int32
	// Changes lists the rows that began or ceased to hold in this tick. Settle and
	// End set it.
	Changes []int32
	// Logged and Gone are the results of Finish.
	Logged, Gone []int32
	// free lists row numbers for reuse. work lists the rows of a recursive
	// relation from which rules must still derive others.
	free, work []int32
	held       int
	// recursive: rows may support each other. durable: rows that next rules
	// derive are durable.
	recursive, durable bool
}

// NewFacts returns empty Facts.
func NewFacts(recursive, durable bool) Facts { return Facts{recursive: recursive, durable: durable} }

type meta struct {
	derived, next int32
	state         state
}

type state uint16

const (
	is        state = 1 << iota // it holds
	was                         // it held in the tick before
	pulse                       // it is supported in this tick only
	carried                     // it was derived by a next rule in the tick before
	passed                      // a pulse among the next rules derived it in this tick
	recursed                    // it was derived from rows of the same group
	inDirty                     // it is in dirty
	onDisk                      // it is durable
	unchanged = is | was
)

// Row returns a row number without support: a free one or a new one.
func (f *Facts) Row() int32 {
	if n := len(f.free); n > 0 {
		row := f.free[n-1]
		f.free = f.free[:n-1]
		return row
	}
	f.meta = Append(f.meta, meta{})
	return int32(len(f.meta) - 1)
}

// Append appends v to s and doubles the capacity of a full slice. The builtin append
// grows a long slice by only a quarter, which would copy each element about four
// times.
func Append[T any](s []T, v T) []T {
	if len(s) == cap(s) {
		s = slices.Grow(s, max(len(s), appendMin))
	}
	return append(s, v)
}

// appendMin is the capacity that an empty slice gets.
const appendMin = 8

// Is reports whether the row holds.
func (f *Facts) Is(row int32) bool { return f.meta[row].state&is != 0 }

// Was reports whether it held in the tick before.
func (f *Facts) Was(row int32) bool { return f.meta[row].state&was != 0 }

// Sign is 1 for a row that holds, and -1 for one that does not.
func (f *Facts) Sign(row int32) int32 { return int32(f.meta[row].state&is)*2 - 1 }

// Held is how many rows hold.
func (f *Facts) Held() int { return f.held }

// Used reports whether the row number is in use: the row has support, or had it in this
// tick.
func (f *Facts) Used(row int32) bool { return f.meta[row] != meta{} }

func (f *Facts) touch(row int32) {
	m := &f.meta[row]
	if m.state&inDirty == 0 {
		m.state |= inDirty
		f.dirty = Append(f.dirty, row)
	}
}

// Derive adds to the number of derivations by standing rules; by may be
// negative.
func (f *Facts) Derive(row, by int32) {
	f.meta[row].derived += by
	f.touch(row)
}

// Next adds to the number of derivations by standing next rules; by may be
// negative.
func (f *Facts) Next(row, by int32) {
	f.meta[row].next += by
	f.touch(row)
}

// Pulse supports the row in this tick only.
func (f *Facts) Pulse(row int32) {
	f.meta[row].state |= pulse
	f.touch(row)
}

// Pass makes the row hold in the next tick, because a next rule that is a pulse
// derived it.
func (f *Facts) Pass(row int32) {
	f.meta[row].state |= passed
	f.touch(row)
}

// Restore makes a durable row hold in the first tick, or, if gone, undoes that.
func (f *Facts) Restore(row int32, gone bool) {
	if gone {
		f.meta[row].state &^= carried | onDisk
	} else {
		f.meta[row].state |= carried | onDisk
	}
	f.touch(row)
}

// OnDisk reports whether the row is durable.
func (f *Facts) OnDisk(row int32) bool { return f.meta[row].state&onDisk != 0 }

func (m *meta) supported() bool { return m.derived > 0 || m.state&(pulse|carried) != 0 }

// Settle finds the changes in a relation that is not recursive.
func (f *Facts) Settle() {
	for _, row := range f.dirty {
		m := &f.meta[row]
		if m.supported() {
			m.state |= is
		} else {
			m.state &^= is
		}
	}
	f.compare()
}

// compare appends to Changes the dirty rows that began or ceased to hold.
func (f *Facts) compare() {
	for _, row := range f.dirty {
		if s := f.meta[row].state & unchanged; s == is || s == was {
			f.Changes = Append(f.Changes, row)
			f.held += int(f.Sign(row))
		}
	}
}

// Dropped reports whether some row ceased to hold in this tick.
func (f *Facts) Dropped() bool {
	for _, row := range f.Changes {
		if !f.Is(row) {
			return true
		}
	}
	return false
}

// Lost reports whether some row of a recursive relation that held in the tick before
// has lost its support outside the recursion, and so may not hold now.
func (f *Facts) Lost() bool {
	for _, row := range f.dirty {
		if m := &f.meta[row]; m.state&was != 0 && !m.supported() {
			return true
		}
	}
	return false
}

// Begin begins the derivation of a recursive relation in this tick. If anew, it
// starts from only the rows that have support outside the recursion; otherwise it
// keeps all rows that held before and adds the new ones. The rows that it adds
// become work.
func (f *Facts) Begin(anew bool) {
	f.work = f.work[:0]
	if anew {
		for row := range f.meta {
			m := &f.meta[row]
			m.state &^= recursed | is
			if m.supported() {
				m.state |= is
				f.work = append(f.work, int32(row))
			}
		}
		return
	}
	for _, row := range f.dirty {
		if m := &f.meta[row]; m.supported() && m.state&is == 0 {
			m.state |= is
			f.work = append(f.work, row)
		}
	}
}

// Recurse makes a row hold that was derived from other rows of the group.
func (f *Facts) Recurse(row int32) {
	m := &f.meta[row]
	if m.state&is == 0 {
		f.work = Append(f.work, row)
		f.touch(row)
	}
	m.state |= is | recursed
}

// Replaced makes a row cease to hold, because the row with which it merges
// holds.
func (f *Facts) Replaced(row int32) {
	f.meta[row].state &^= is | recursed
	f.touch(row)
}

// Work removes and returns a row from which others must be derived, or None.
func (f *Facts) Work() int32 {
	for len(f.work) > 0 {
		row := f.work[len(f.work)-1]
		f.work = f.work[:len(f.work)-1]
		if f.Is(row) {
			return row
		}
	}
	return None
}

// End ends the derivation that Begin began.
func (f *Facts) End(anew bool) {
	if anew {
		for row := range f.meta {
			if s := f.meta[row].state & unchanged; s == is || s == was {
				f.touch(int32(row))
			}
		}
	}
	f.compare()
}

// Recent returns the rows that were supported in this tick. For a relation
// whose rows hold for one tick only, these are all rows that hold.
func (f *Facts) Recent() []int32 { return f.dirty }

// Pending reports whether a tick would change something if nothing arrived.
func (f *Facts) Pending() bool { return len(f.dirty) > 0 }

// Finish ends the tick. It sets Logged to the rows that became durable or ceased
// to be, and Gone to the rows that the caller must remove before it adds the next
// row.
func (f *Facts) Finish() {
	f.Logged, f.Gone = f.Logged[:0], f.Gone[:0]
	next := f.spare[:0]
	for _, row := range f.dirty {
		m := &f.meta[row]
		held := m.supported()
		s := m.state &^ (was | pulse | carried | passed | inDirty)
		if s&is != 0 {
			s |= was
		}
		keeps := m.next > 0 || m.state&passed != 0
		if f.durable && keeps != (s&onDisk != 0) {
			s ^= onDisk
			f.Logged = append(f.Logged, row)
		}
		if keeps {
			s |= carried
		}
		m.state = s
		will := m.supported() || s&recursed != 0
		switch {
		case will != (s&is != 0), keeps && m.next == 0, f.recursive && held && !m.supported():
			m.state |= inDirty
			next = append(next, row)
		case !will:
			*m = meta{}
			f.Gone = append(f.Gone, row)
		}
	}
	f.free = append(f.free, f.Gone...)
	f.dirty, f.spare = next, f.dirty
	f.Changes = f.Changes[:0]
}
