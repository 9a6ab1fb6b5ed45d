package check

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
