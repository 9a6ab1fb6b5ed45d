// SPDX-License-Identifier: Apache-2.0

// Package serial decides whether a history of transactions is strictly
// serializable. It knows keys, values and ranges, and nothing about the store.
//
// In: transactions with what they read and wrote, whether they committed, the moments
// when they began and ended, and an order of those that committed changes. Out: nil,
// or what is wrong: a cycle of dependencies, or a read that no order explains.
//
// Promised: a history that passes has a serial order that respects real time. The
// order that comes with the history is a witness: it says which version of a key
// followed which. A false one can make a good history fail; it cannot make a bad one
// pass, since where the dependencies that follow from some order of the versions have
// no cycle there is a serial order (Adya, Liskov and O'Neil, ICDE 2000). Transactions
// that did not commit have their places in it as if they had only read. Refused: a
// history in which two operations on a key write the same or make the same value of it,
// committed or not, since a read must say which one it saw.
//
// Phantoms need no rule of their own: a Scan is a read of each key that the history
// ever names in its range, those included that it did not find.
package serial

import (
	"fmt"
	"strings"
)

// Kind is the kind of an Op.
type Kind uint8

// The kinds.
const (
	Read        Kind = iota // of Key: Found and Value
	Scan                    // of [Key, End): Rows
	Put                     // Value
	Append                  // Value, to what Key has
	Delete                  // Key
	DeleteRange             // [Key, End)
)

func (k Kind) String() string {
	return [...]string{"read", "scan", "put", "append", "delete", "delete range"}[k]
}

// Op is one operation of a transaction.
type Op struct {
	Kind       Kind
	Key, Value string
	Found      bool
	End        string // "": no bound
	Rows       map[string]string
}

func (o Op) in(key string) bool { return o.Key <= key && (o.End == "" || key < o.End) }

// Txn is a transaction. Its reads show its own earlier writes.
type Txn struct {
	Name      string
	Committed bool
	// Began is a moment before the first operation, Ended one after the last.
	Began, Ended int64
	Ops          []Op
}

func (t *Txn) writes() bool {
	for _, o := range t.Ops {
		if o.Kind >= Put {
			return true
		}
	}
	return false
}

// History has the transactions. Order has the indices in Txns of the transactions that
// committed changes, in the order of the versions of all keys. Before the first
// transaction there are no keys.
type History struct {
	Txns  []Txn
	Order []int
}

// State has the values of keys.
type State map[string]string

// Apply makes the changes of an operation.
func (s State) Apply(o Op) {
	switch o.Kind {
	case Put:
		s[o.Key] = o.Value
	case Append:
		s[o.Key] += o.Value
	case Delete:
		delete(s, o.Key)
	case DeleteRange:
		for k := range s {
			if o.in(k) {
				delete(s, k)
			}
		}
	}
}

// After returns the state after the first n transactions of Order.
func (h *History) After(n int) State {
	s := State{}
	for _, t := range h.Order[:n] {
		for _, o := range h.Txns[t].Ops {
			s.Apply(o)
		}
	}
	return s
}

// Anomaly is the reason why a history is not strictly serializable.
type Anomaly struct {
	What string
	// Cycle has transactions, each with the reason why it comes before the next one; the
	// last comes before the first.
	Cycle []Step
}

// Step is an edge of a cycle.
type Step struct {
	Txn  string
	Why  string // ww, wr, rw or rt
	Key  string
	Next string
}

func (a *Anomaly) Error() string {
	var b strings.Builder
	b.WriteString(a.What)
	for _, s := range a.Cycle {
		fmt.Fprintf(&b, "\n  %s before %s: %s %q", s.Txn, s.Next, s.Why, s.Key)
	}
	return b.String()
}

func anomaly(format string, args ...any) *Anomaly {
	return &Anomaly{What: fmt.Sprintf(format, args...)}
}
