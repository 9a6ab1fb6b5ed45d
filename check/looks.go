package check

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
)

// Looks at properties of behaviours may be made by another process than the search:
// one has the model with its properties, the other one code for states that is
// faster. Who searches has Options.Ask, which tells where the search is; who has the
// properties makes Looks, and answers with Looks.At. All else is as with
// Options.Periodic: the search waits for the answer, so it ends at the same place.

// Look is where a search is when it is time to look.
type Look struct {
	Level      int // states on the shortest path to those that are next
	Distinct   int64
	Generated  int64
	Violations int // that the search has found
}

// Looked is what a look has come to: whether the search is to end, and what it keeps
// in its checkpoints and reports, in a form of this package.
type Looked struct {
	End  bool
	Kept []byte
}

// Looks are looks at properties of behaviours of a model. They belong to one
// goroutine.
type Looks struct{ early early }

// NewLooks begins with no look. The options are those of the search, and ctx its
// context. It is nil where nothing is to be looked at. Close is to be called at last.
func NewLooks(ctx context.Context, m Model, o Options) *Looks {
	o.Looks = nil
	e := newEarly(ctx, m, o)
	if e == nil {
		return nil
	}
	return &Looks{*e}
}

// At looks. Its errors are those of Run.
func (l *Looks) At(at Look) (Looked, error) {
	e := &l.early
	var out Looked
	if !e.Off && at.Level > e.Level {
		var err error
		if out.End, err = e.at(at); err != nil {
			return Looked{}, err
		}
	}
	var err error
	out.Kept, err = json.Marshal(e.keptLooks)
	return out, err
}

// Forget lets go of what was computed, though not of what was found: before the model
// is given back what a checkpoint has, say.
func (l *Looks) Forget() error {
	if l == nil {
		return nil
	}
	return l.early.forget()
}

// Notes are the remarks that a result has in its Warnings of looks that were given up.
func (l *Looks) Notes() []string {
	if l == nil {
		return nil
	}
	return slices.Clone(l.early.Notes)
}

// Close ends the looks. Nothing is looked at any more.
func (l *Looks) Close() error {
	if l == nil {
		return nil
	}
	return l.early.close()
}

// asked has somebody else look.
func (e *early) asked(at Look) (end bool, err error) {
	got, err := e.ask(at)
	switch {
	case err != nil || e.ctx.Err() != nil && got.Kept == nil:
		return false, err
	case len(got.Kept) == 0:
		return false, errors.New("check: a look has no answer")
	}
	e.keptLooks = keptLooks{}
	return got.End, json.Unmarshal(got.Kept, &e.keptLooks)
}
