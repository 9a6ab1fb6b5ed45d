package check

import "sync/atomic"

// Monitor watches one search, and if that is gone on with, what goes on with it.
// The zero Monitor is ready.
type Monitor struct {
	search   atomic.Pointer[search]
	told     atomic.Pointer[Figures]
	deciding atomic.Pointer[Deciding]
}

// Figures are all that a Monitor knows.
type Figures struct {
	Stats
	// Initial is the number of distinct initial states, 0 until they are known.
	Initial int64
	// DiskBytes is how much the search has on disk.
	DiskBytes int64
	// Before is Result.Before.
	Before int64
}

// Figures says how far the search is; they are zero before the search begins. It
// may be called from any goroutine, within the model too.
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

// Report has the monitor say f from now on, until a search of this process has
// it: the search goes on in another one, which tells of it.
func (m *Monitor) Report(f Figures) { m.told.Store(&f) }

// Stats are those of Figures.
func (m *Monitor) Stats() Stats { return m.Figures().Stats }

// Initial is that of Figures.
func (m *Monitor) Initial() int64 { return m.Figures().Initial }

// DiskBytes are those of Figures.
func (m *Monitor) DiskBytes() int64 { return m.Figures().DiskBytes }

// Deciding says how far the decision about properties of behaviours is, after a
// search: the graph has States of Of states, or all of them, and then Property is
// the one that is being decided.
type Deciding struct {
	States, Of int64
	Property   string
}

// Deciding says how far the decision about properties of behaviours is; on is false
// where none is under way. It may be called from any goroutine.
func (m *Monitor) Deciding() (d Deciding, on bool) {
	if p := m.deciding.Load(); p != nil {
		return *p, true
	}
	return Deciding{}, false
}

// decides notes how far the decision is. A nil Monitor notes nothing.
func (m *Monitor) decides(d *Deciding) {
	if m != nil {
		m.deciding.Store(d)
	}
}
