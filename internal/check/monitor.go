// SPDX-License-Identifier: Apache-2.0

package check

import "sync/atomic"

// Monitor watches one search and, if that is continued, its continuation. The
// zero Monitor is ready.
type Monitor struct {
	search   atomic.Pointer[search]
	told     atomic.Pointer[Figures]
	deciding atomic.Pointer[Deciding]
}

// Figures are all figures of a Monitor.
type Figures struct {
	Stats
	// Initial is the number of distinct initial states, 0 until they are known.
	Initial int64
	// DiskBytes is the size of the search on disk.
	DiskBytes int64
	// Before is Result.Before.
	Before int64
}

// Figures returns the progress of the search; the figures are zero before it
// begins. It may be called from any goroutine, also within the model.
func (m *Monitor) Figures() Figures {
	if f := m.told.Load(); f != nil {
		return *f
	}
	s := m.search.Load()
	if s == nil {
		return Figures{}
	}
	return s.progress.figures(s.workers)
}

// Report makes the monitor return f from now on, until a search of this process
// uses it: the search is continuing in another process, which reports f.
func (m *Monitor) Report(f Figures) { m.told.Store(&f) }

// Stats are those of Figures.
func (m *Monitor) Stats() Stats { return m.Figures().Stats }

// Initial is that of Figures.
func (m *Monitor) Initial() int64 { return m.Figures().Initial }

// DiskBytes are those of Figures.
func (m *Monitor) DiskBytes() int64 { return m.Figures().DiskBytes }

// Deciding is the progress of deciding properties of behaviours, after a
// search: the graph has States of Of states, or all of them, and then Property
// is the one being decided.
type Deciding struct {
	States, Of int64
	Property   string
}

// Deciding returns the progress of deciding properties of behaviours; on is
// false if none is being decided. It may be called from any goroutine.
func (m *Monitor) Deciding() (d Deciding, on bool) {
	if p := m.deciding.Load(); p != nil {
		return *p, true
	}
	return Deciding{}, false
}

// decides records the progress of the decision. A nil Monitor records nothing.
func (m *Monitor) decides(d *Deciding) {
	if m != nil {
		m.deciding.Store(d)
	}
}
