// SPDX-License-Identifier: Apache-2.0

package check

import "sync/atomic"

// ending is whether and why the search ends early without a violation. It may be
// used from any goroutine; the first reason counts.
type ending struct {
	now  atomic.Pointer[stop] // the search ends
	soon atomic.Pointer[stop] // the search ends with the segment, and is checkpointed
	// keeps reports whether the search may end with a checkpoint at the end of a
	// segment: it has segments, and the caller wants the checkpoint.
	keeps atomic.Bool
}

// stop is why a search ends.
type stop struct {
	verdict Verdict
	reason  string
}

// interrupt ends the search.
func (e *ending) interrupt(v Verdict, reason string) {
	e.now.CompareAndSwap(nil, &stop{v, reason})
}

// finish ends the search: at the end of the segment if the search is to be
// checkpointed there, otherwise at once.
func (e *ending) finish(v Verdict, reason string) {
	if e.keepsSegments() {
		e.soon.CompareAndSwap(nil, &stop{v, reason})
		return
	}
	e.interrupt(v, reason)
}

// stopped reports whether the search has been ended, why returns the reason, and due the
// reason to end it after the segment; they are nil if there is none.
func (e *ending) stopped() bool { return e.now.Load() != nil }
func (e *ending) why() *stop    { return e.now.Load() }
func (e *ending) due() *stop    { return e.soon.Load() }

// keepSegments makes the search end only at the end of a segment from now on;
// keepsSegments reports whether it does.
func (e *ending) keepSegments()       { e.keeps.Store(true) }
func (e *ending) keepsSegments() bool { return e.keeps.Load() }
