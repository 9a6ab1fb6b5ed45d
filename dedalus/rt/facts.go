// SPDX-License-Identifier: Apache-2.0

package rt

import "slices"

// Facts says of the rows of a relation which hold, and why. The rows themselves are
// elsewhere; here they are numbers.
//
// What supports a row is: derivations by standing rules, of which the number is
// known; derivations by next rules in this tick, which let it hold in the next one;
// that it was carried into this tick; messages and rules of this tick only
// (pulses); and, in recursive relations, that it was derived from others of them.
//
// In a tick: the supports change, Settle finds which rows began or ceased to hold,
// which are then in Changes; at the end Finish takes back what was for this tick
// only. A row that has ceased to hold is still there until Finish, so that others can see
// what held before.
type Facts struct {
	meta []meta
	// dirty are the rows whose supports have changed since the last Finish, or
	// will have to in this tick.
	dirty, spare []int32
	// Changes are the rows that began or ceased to hold in this tick, after Settle.
	Changes []int32
	// Logged and Gone are as Finish has left them.
	Logged, Gone []int32
	// free are rows that can be used again, work those of a recursive relation
	// from which others are to be derived.
	free, work []int32
	held       int
	// recursive: rows may hold by each other. durable: what next rules derive is.
	recursive, durable bool
}

// NewFacts returns no facts, of a relation that is recursive or durable.
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

// Row returns a row without support: a number that is free or the next one.
func (f *Facts) Row() int32 {
	if n := len(f.free); n > 0 {
		row := f.free[n-1]
		f.free = f.free[:n-1]
		return row
	}
	f.meta = Append(f.meta, meta{})
	return int32(len(f.meta) - 1)
}

// Append appends v to s. A slice that is full gets twice the room: package builtin's
// append gives a long one a quarter more, and has copied it four times in the end.
func Append[T any](s []T, v T) []T {
	if len(s) == cap(s) {
		s = slices.Grow(s, max(len(s), appendMin))
	}
	return append(s, v)
}

// appendMin is the room that an empty slice gets.
const appendMin = 8

// Is reports whether the row holds.
func (f *Facts) Is(row int32) bool { return f.meta[row].state&is != 0 }

// Was reports whether it held in the tick before.
func (f *Facts) Was(row int32) bool { return f.meta[row].state&was != 0 }

// Sign is 1 for a row that holds, and -1 for one that does not.
func (f *Facts) Sign(row int32) int32 { return int32(f.meta[row].state&is)*2 - 1 }

// Held is how many rows hold.
func (f *Facts) Held() int { return f.held }

// Used reports whether the row is one: it has support or had it in this tick, and is not
// free.
func (f *Facts) Used(row int32) bool { return f.meta[row] != meta{} }

func (f *Facts) touch(row int32) {
	m := &f.meta[row]
	if m.state&inDirty == 0 {
		m.state |= inDirty
		f.dirty = Append(f.dirty, row)
	}
}

// Derive adds a number of derivations by standing rules, or takes them away.
func (f *Facts) Derive(row, by int32) {
	f.meta[row].derived += by
	f.touch(row)
}

// Next adds a number of derivations by standing next rules, or takes them away.
func (f *Facts) Next(row, by int32) {
	f.meta[row].next += by
	f.touch(row)
}

// Pulse supports the row in this tick.
func (f *Facts) Pulse(row int32) {
	f.meta[row].state |= pulse
	f.touch(row)
}

// Pass has the row hold in the next tick, by a rule that is a pulse.
func (f *Facts) Pass(row int32) {
	f.meta[row].state |= passed
	f.touch(row)
}

// Restore has the row hold in the first tick, as one that is durable, or no longer.
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

// Settle finds the changes, in a relation that is not recursive.
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

// compare enters the changes.
func (f *Facts) compare() {
	for _, row := range f.dirty {
		if s := f.meta[row].state & unchanged; s == is || s == was {
			f.Changes = Append(f.Changes, row)
			f.held += int(f.Sign(row))
		}
	}
}

// Dropped reports whether a row ceased to hold.
func (f *Facts) Dropped() bool {
	for _, row := range f.Changes {
		if !f.Is(row) {
			return true
		}
	}
	return false
}

// Lost reports whether a row of a recursive relation which held may no longer, as what
// supported it does not.
func (f *Facts) Lost() bool {
	for _, row := range f.dirty {
		if m := &f.meta[row]; m.state&was != 0 && !m.supported() {
			return true
		}
	}
	return false
}

// Begin begins the derivation of a recursive relation in this tick: with what holds
// by other support only, if anew, and else with all that held before and what is
// new. What is new becomes work.
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

// Recurse has a row hold that was derived from others of the group.
func (f *Facts) Recurse(row int32) {
	m := &f.meta[row]
	if m.state&is == 0 {
		f.work = Append(f.work, row)
		f.touch(row)
	}
	m.state |= is | recursed
}

// Replaced has a row no longer hold, as another one with which it merges does.
func (f *Facts) Replaced(row int32) {
	f.meta[row].state &^= is | recursed
	f.touch(row)
}

// Work is a row from which others are to be derived, or None.
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

// End ends what Begin has begun.
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

// Recent are the rows that were supported in this tick: all that hold, of a
// relation of which none hold longer.
func (f *Facts) Recent() []int32 { return f.dirty }

// Pending reports whether a tick would change something if nothing arrived.
func (f *Facts) Pending() bool { return len(f.dirty) > 0 }

// Finish ends the tick. Logged are then the rows that became durable or are so no
// longer, and Gone those that are to be removed before the next row is added.
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
