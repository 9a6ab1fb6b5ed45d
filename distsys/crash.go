// SPDX-License-Identifier: Apache-2.0

package distsys

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Crash says how an instance goes on when its process was killed and started
// again. Its durable variables are kept in Options.Journal, which it needs.
//
// Whatever others can see of a section waits until the journal has the durable
// variables as the section, and all before it, left them. A section that
// touches no resource and prints nothing does not wait, so that one sync of the
// disk may serve many.
type Crash[S any] struct {
	// Recover is where an instance goes on after a crash.
	Recover Label
	// Durable are the variables that survive, in the order of their declaration.
	Durable []Durable[S]
	// Changed returns which of Durable were assigned since it was called last,
	// as a set of bits: bit i stands for Durable[i], and bit 63 for all from 63
	// on.
	Changed func(s *S) uint64
	// Restart gives the other variables first values, as Init does. S holds
	// what New was given, and the durable variables. Nil: there is nothing to
	// set.
	Restart func(s *S, tx *Tx) error
}

// Durable is a variable that survives a crash. Set panics with a *value.Error
// for a value that is not of the variable's type.
type Durable[S any] struct {
	Name string
	Get  func(s *S) value.Value
	Set  func(s *S, v value.Value)
}

// Journal keeps the durable variables of the instances of a node. Package
// durable has one on a disk. It is safe for concurrent use.
type Journal interface {
	// Life is the number of the node's life, from 1.
	Life() uint64
	// Recall returns what the lives before left of an instance, nil where they
	// left nothing. The instance "" has the variables that instances share. What
	// it returns must not be changed.
	Recall(instance string) *Kept
	// Append queues what a section changed, behind all that was appended
	// before, and returns its number. It does not wait for the disk.
	Append(instance string, k Kept) (uint64, error)
	// Durable reports whether number n and all before it are on the disk. If
	// not, it wakes w when that is worth another question. An error is final.
	Durable(n uint64, w env.Waker) (bool, error)
}

// Kept is what a Journal has of an instance.
type Kept struct {
	// Life and N say after which section: the N-th of that life.
	Life, N uint64
	// Done reports that the instance has ended. It does not start again.
	Done bool
	// Vars are the durable variables; in Append, those that were assigned.
	Vars []Var
	// Shared are, in Append, variables that the section has changed and that
	// instances share. They become durable with Vars, all or none.
	Shared []Var
}

// Lasting is a Resource that survives a crash: the journal keeps its value.
type Lasting interface {
	Resource
	// Changed returns what the section has changed, as variables with names of
	// their own in the node. It is called once, before Commit.
	Changed(tx *Tx) []Var
}

// allChanged is the answer of Changed for all variables.
const allChanged = ^uint64(0)

// changes returns the durable variables that are in the set.
func (c *Crash[S]) changes(s *S, changed uint64) []Var {
	var out []Var
	for i, d := range c.Durable {
		if changed&(1<<min(i, 63)) != 0 {
			out = append(out, Var{d.Name, d.Get(s)})
		}
	}
	return out
}

// recall sets the durable variables to what is kept.
func (c *Crash[S]) recall(s *S, k *Kept) error {
	kept := make(map[string]value.Value, len(k.Vars))
	for _, v := range k.Vars {
		kept[v.Name] = v.Value
	}
	for _, d := range c.Durable {
		v, ok := kept[d.Name]
		if !ok {
			return fmt.Errorf("the journal has no variable %s: it is of another program", d.Name)
		}
		if err := value.Catch(func() { d.Set(s, v) }); err != nil {
			return fmt.Errorf("the journal has %s = %s, which is of another type than this program's: %w", d.Name, value.Brief(v), err)
		}
		delete(kept, d.Name)
	}
	for _, v := range k.Vars {
		if _, left := kept[v.Name]; left {
			return fmt.Errorf("the journal has a variable %s: it is of another program", v.Name)
		}
	}
	return nil
}

// lagMax is how many records of an instance may wait for the disk before its
// sections wait, too.
const lagMax = 64

// changed returns what the section that is about to commit has changed, and whether
// the journal has to keep it.
func (e *engine) changed() (k Kept, keep bool, err error) {
	if e.opt.Journal == nil {
		return k, false, nil
	}
	err = value.Catch(func() {
		k = Kept{Life: e.opt.Journal.Life(), N: e.n + 1, Done: e.next == Done}
		k.Vars, keep = e.code.changes()
		for _, r := range e.tx.joined {
			if l, ok := r.(Lasting); ok {
				k.Shared = append(k.Shared, l.Changed(&e.tx)...)
			}
		}
	})
	return k, keep || k.Done || len(k.Shared) > 0, err
}

// keep queues what the section has changed. From then on the section cannot be
// aborted: it takes effect, or the instance ends. A value that no journal can hold,
// such as an infinite set, is an error of the section.
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

// settled reports whether everything that the section depends on is durable, or
// nothing of the section can be seen.
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

// private reports whether nobody sees that the section commits.
func (e *engine) private() bool {
	return len(e.tx.joined) == 0 && len(e.tx.printed) == 0 && e.next >= 0
}
