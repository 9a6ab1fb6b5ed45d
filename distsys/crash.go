// SPDX-License-Identifier: Apache-2.0

package distsys

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Crash describes how an instance continues after its process was killed and
// started again. The journal in Options.Journal, which is required, stores the
// instance's durable variables.
//
// The effects of a section become visible to other instances only once the
// journal holds the durable variables as that section and all earlier ones left
// them. A section that touches no resource and prints nothing does not wait, so
// that one disk sync can serve many sections.
type Crash[S any] struct {
	// Recover is the label at which an instance continues after a crash.
	Recover Label
	// Durable are the variables that survive, in the order of their declaration.
	Durable []Durable[S]
	// Changed returns the subset of Durable assigned since the last call to
	// Changed, as a bit set: bit i stands for Durable[i], and bit 63 for all
	// from 63 on.
	Changed func(s *S) uint64
	// Restart gives the other variables their first values, as Init does. S
	// holds what the caller passed to New, and the durable variables. Nil means
	// that there is nothing to set.
	Restart func(s *S, tx *Tx) error
}

// Durable is a variable that survives a crash. Set panics with a *value.Error
// for a value that is not of the variable's type.
type Durable[S any] struct {
	Name string
	Get  func(s *S) value.Value
	Set  func(s *S, v value.Value)
	// Tail, which may be nil, is for a variable that is a sequence in s as in was.
	// It returns how many of its first elements the two have in common, and those
	// that follow in s. Unlike Get, it takes no time for what they have in common.
	Tail func(was, s *S) (keep int, tail []value.Value)
}

// Journal stores the durable variables of a node's instances. Package durable
// implements it on a disk. It is safe for concurrent use.
type Journal interface {
	// Life is the number of the node's life, from 1.
	Life() uint64
	// Recall returns what earlier lives of the node stored for an instance, or
	// nil if they stored nothing. The instance "" holds the variables that
	// instances share. The caller must not modify the result.
	Recall(instance string) *Kept
	// Append queues the changes of a section, behind everything appended
	// before, and returns the record's number. It does not wait for the disk.
	Append(instance string, k Kept) (uint64, error)
	// Durable reports whether record n and all records before it are on the
	// disk. If they are not, Durable wakes w when the caller should ask again.
	// An error is final.
	Durable(n uint64, w env.Waker) (bool, error)
}

// Kept is the journal's record of an instance.
type Kept struct {
	// Life and N identify the section whose state this is: the N-th section of
	// that life.
	Life, N uint64
	// Done reports that the instance has ended. It does not start again.
	Done bool
	// Vars are the durable variables. In a call of Append, they are only the
	// variables that the section assigned.
	Vars []Var
	// Tails are the sequences among the durable variables that the section
	// changed; only Append uses it.
	Tails []Tail
	// Shared are the variables that the section changed and that instances
	// share; only Append uses it. The journal makes Shared and Vars durable
	// atomically.
	Shared []Var
}

// Tail is what a section has made of a sequence: its first Keep elements, and then
// Elems.
type Tail struct {
	Name  string
	Keep  int
	Elems []value.Value
}

// Lasting is a Resource that survives a crash: the journal stores its value.
type Lasting interface {
	Resource
	// Changed returns what the section has changed, as variables whose names
	// are unique in the node. The engine calls it once, before Commit.
	Changed(tx *Tx) []Var
}

// allChanged is the result of Changed that stands for all variables.
const allChanged = ^uint64(0)

// changes adds the durable variables that are in the set to k. Was is nil if
// nothing is recorded yet.
func (c *Crash[S]) changes(k *Kept, was, s *S, changed uint64) {
	for i, d := range c.Durable {
		switch {
		case changed&(1<<min(i, 63)) == 0:
		case was != nil && d.Tail != nil:
			keep, tail := d.Tail(was, s)
			k.Tails = append(k.Tails, Tail{d.Name, keep, tail})
		default:
			k.Vars = append(k.Vars, Var{d.Name, d.Get(s)})
		}
	}
}

// recall sets the durable variables to the values in the journal.
func (c *Crash[S]) recall(s *S, k *Kept) error {
	kept := make(map[string]value.Value, len(k.Vars))
	for _, v := range k.Vars {
		kept[v.Name] = v.Value
	}
	for _, d := range c.Durable {
		v, ok := kept[d.Name]
		if !ok {
			return fmt.Errorf("the journal has no variable %s: another program wrote it", d.Name)
		}
		if err := value.Catch(func() { d.Set(s, v) }); err != nil {
			return fmt.Errorf("the journal has %s = %s, which does not have the type that this program expects: %w", d.Name, value.Brief(v), err)
		}
		delete(kept, d.Name)
	}
	for _, v := range k.Vars {
		if _, left := kept[v.Name]; left {
			return fmt.Errorf("the journal has a variable %s: another program wrote it", v.Name)
		}
	}
	return nil
}

// lagMax is the number of an instance's records that may wait for the disk.
// Once that many wait, private sections wait for the disk too.
const lagMax = 64

// changed returns the changes of the section that is about to commit, and whether
// the journal must record them.
func (e *engine) changed() (k Kept, keep bool, err error) {
	if e.opt.Journal == nil {
		return k, false, nil
	}
	err = value.Catch(func() {
		k = Kept{Life: e.opt.Journal.Life(), N: e.n + 1, Done: e.next == Done}
		keep = e.code.changes(&k)
		for _, r := range e.tx.joined {
			if l, ok := r.(Lasting); ok {
				k.Shared = append(k.Shared, l.Changed(&e.tx)...)
			}
		}
	})
	return k, keep || k.Done || len(k.Shared) > 0, err
}

// keep queues the changes of the section for the journal. After that the section
// cannot be aborted: it takes effect, or the instance ends. A value that a journal
// cannot store, such as an infinite set, is an error of the section.
func (e *engine) keep(k Kept) (err error) {
	var n uint64
	if cerr := value.Catch(func() { n, err = e.opt.Journal.Append(e.name, k) }); cerr != nil {
		return cerr
	}
	if err != nil {
		return err
	}
	e.ticket = n
	e.lag++
	return nil
}

// settled reports whether the section may take effect: everything that it
// depends on is durable, or other instances cannot see its effects.
func (e *engine) settled() (bool, error) {
	if e.lag == 0 {
		return true, nil
	}
	if e.private() && e.lag < lagMax {
		return true, nil
	}
	e.answered.Take()
	durable, err := e.opt.Journal.Durable(e.ticket, e.answered)
	if err != nil {
		return false, fmt.Errorf("write the journal: %w", err)
	}
	if durable {
		e.lag = 0
	}
	return durable, nil
}

// private reports whether the section's commit is invisible outside of the
// instance.
func (e *engine) private() bool {
	return len(e.tx.joined) == 0 && len(e.tx.printed) == 0 && e.next >= 0
}
