// SPDX-License-Identifier: Apache-2.0

// Package history decides whether a history of transactions was strictly
// serializable.
//
// In: transactions of appends to lists and reads of whole lists, as clients saw
// them, with the times of their calls. Each element is appended once, so a read
// shows the order of the elements and which ones it has not seen. Out: the
// anomalies, each with the transactions that prove it.
//
// From the lists follow the edges of the dependency graph: ww (appended before),
// wr (was read by), rw (was not seen by a read, so the read came before), and rt
// (had ended before the other began). A cycle is a contradiction, and which edges
// it takes says how bad it is.
//
// Promised: every anomaly is one, and the cycle that is printed is there. Not
// promised: to find what left no trace in a read.
//
// Refused: histories of other types, and weaker models than strict
// serializability.
//
// Sources: Adya, Liskov and O'Neil 2000 for the names G0 to G2; Kingsbury and
// Alvaro, Elle (VLDB 2020), for lists that show their versions.
package history

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Op is a read of a list or an append to it.
type Op struct {
	Key string
	// Append is the appended element. If it is empty, the Op is a read, which returned
	// List.
	Append string
	List   []string
}

// Status is the outcome of a transaction, as far as its client knows.
type Status uint8

// The statuses.
const (
	Committed Status = iota
	// Aborted: it must not have had an effect.
	Aborted
	// Unknown: it may have had one, at any time after it began.
	Unknown
)

// Txn is a transaction. Its reads count only if it is Committed.
type Txn struct {
	// Name is for people.
	Name   string
	Ops    []Op
	Status Status
	// Begin and End are when its client called and was answered, on one clock.
	Begin, End int64
}

// Kind is a kind of anomaly.
type Kind string

// The kinds. Those of cycles have a variant with "-realtime", whose cycle needs
// the order of real time: serializable perhaps, but not strictly.
const (
	// Internal: a read contradicts the transaction's own appends.
	Internal Kind = "internal"
	// Garbage: an element that was never appended, or one that was read twice.
	Garbage Kind = "garbage"
	// Incompatible: two reads of a list, and neither is a prefix of the other.
	Incompatible Kind = "incompatible order"
	// G1a: a read of an element that an aborted transaction appended. G1b: a read of a
	// state in the middle of a transaction.
	G1a Kind = "G1a"
	G1b Kind = "G1b"
	// G0: a cycle of ww. G1c: with wr. GSingle: with one rw. G2: with more.
	G0      Kind = "G0"
	G1c     Kind = "G1c"
	GSingle Kind = "G-single"
	G2      Kind = "G2"
)

const realtime = "-realtime"

// Realtime is the variant of a kind of cycle that needs the order of real time.
func (k Kind) Realtime() Kind { return k + realtime }

// Anomaly is one contradiction.
type Anomaly struct {
	Kind Kind
	// Txns are the places, in the history, of the transactions involved; for a cycle, in
	// its order.
	Txns []int
	// Text describes the anomaly for people.
	Text string
}

func (a Anomaly) String() string { return string(a.Kind) + ": " + a.Text }

// element is an append of an element.
type element struct{ key, value string }

// checker has the known facts about a history.
type checker struct {
	txns []Txn
	// writer has the transaction that appended each element, order the longest
	// list that was read under each key.
	writer map[element]int
	order  map[string][]string
	keys   []string
	edges  [][]edge
	found  []Anomaly
}

// Check returns the anomalies of a history, the simplest first; if there are none, it may
// have been strictly serializable.
func Check(txns []Txn) []Anomaly {
	c := &checker{txns: txns, writer: map[element]int{}, order: map[string][]string{}, edges: make([][]edge, len(txns))}
	c.appends()
	c.orders()
	for i := range txns {
		if txns[i].Status == Committed {
			c.inside(i)
			c.reads(i)
		}
	}
	c.dependencies()
	c.cycles()
	return c.found
}

func (c *checker) name(i int) string {
	if c.txns[i].Name != "" {
		return c.txns[i].Name
	}
	return fmt.Sprintf("T%d", i)
}

func (c *checker) report(k Kind, txns []int, format string, args ...any) {
	c.found = append(c.found, Anomaly{k, txns, fmt.Sprintf(format, args...)})
}

// appends records which transaction appended each element.
func (c *checker) appends() {
	for i := range c.txns {
		for _, o := range c.txns[i].Ops {
			if o.Append == "" {
				continue
			}
			e := element{o.Key, o.Append}
			if j, ok := c.writer[e]; ok {
				c.report(Garbage, []int{j, i}, "%s and %s both append %q to %q: the history cannot be judged", c.name(j), c.name(i), o.Append, o.Key)
				continue
			}
			c.writer[e] = i
		}
	}
}

// orders finds the longest list of each key; all others must be its prefixes.
func (c *checker) orders() {
	by := map[string]int{}
	each := func(f func(i int, o Op)) {
		for i := range c.txns {
			for _, o := range c.txns[i].Ops {
				if c.txns[i].Status == Committed && o.Append == "" {
					f(i, o)
				}
			}
		}
	}
	each(func(i int, o Op) {
		if _, ok := by[o.Key]; !ok || len(o.List) > len(c.order[o.Key]) {
			c.order[o.Key], by[o.Key] = o.List, i
		}
	})
	each(func(i int, o Op) {
		if !slices.Equal(c.order[o.Key][:len(o.List)], o.List) {
			c.report(Incompatible, []int{i, by[o.Key]}, "of %q %s read %q and %s %q", o.Key, c.name(i), o.List, c.name(by[o.Key]), c.order[o.Key])
		}
	})
}

// inside compares a transaction's reads with its own appends.
func (c *checker) inside(i int) {
	last := map[string][]string{}
	mine := map[string][]string{}
	read := map[string]bool{}
	for _, o := range c.txns[i].Ops {
		if o.Append != "" {
			mine[o.Key] = append(mine[o.Key], o.Append)
			continue
		}
		want := append(slices.Clone(last[o.Key]), mine[o.Key]...)
		if read[o.Key] && !slices.Equal(o.List, want) ||
			!read[o.Key] && (len(o.List) < len(want) || !slices.Equal(o.List[len(o.List)-len(want):], want)) {
			c.report(Internal, []int{i}, "%s read %q of %q, after its own appends %q", c.name(i), o.List, o.Key, want)
		}
		read[o.Key] = true
		last[o.Key], mine[o.Key] = o.List, nil
	}
}

// reads checks what a transaction read of other transactions.
func (c *checker) reads(i int) {
	for _, o := range c.txns[i].Ops {
		if o.Append != "" {
			continue
		}
		seen := map[string]bool{}
		for n, v := range o.List {
			w, ok := c.writer[element{o.Key, v}]
			switch {
			case !ok:
				c.report(Garbage, []int{i}, "%s read %q in %q, which nobody appended", c.name(i), v, o.Key)
			case seen[v]:
				c.report(Garbage, []int{i}, "%s read %q twice in %q", c.name(i), v, o.Key)
			case c.txns[w].Status == Aborted:
				c.report(G1a, []int{w, i}, "%s read %q in %q, of %s, which was aborted", c.name(i), v, o.Key, c.name(w))
			case w != i && n == len(o.List)-1 && v != c.lastOf(w, o.Key):
				c.report(G1b, []int{w, i}, "%s read %q up to %q, in the middle of %s", c.name(i), o.Key, v, c.name(w))
			}
			seen[v] = true
		}
	}
}

// lastOf returns the last element that a transaction appended to a key.
func (c *checker) lastOf(i int, key string) string {
	for _, o := range slices.Backward(c.txns[i].Ops) {
		if o.Key == key && o.Append != "" {
			return o.Append
		}
	}
	return ""
}

// Describe formats the anomalies as text, one line each, at most max of them.
func Describe(found []Anomaly, max int) string {
	var b strings.Builder
	for i, a := range found {
		if i == max {
			fmt.Fprintf(&b, "and %d more\n", len(found)-max)
			break
		}
		fmt.Fprintln(&b, a)
	}
	return b.String()
}

// end is the latest time at which a transaction may have ended.
func (t *Txn) end() int64 {
	if t.Status == Unknown {
		return math.MaxInt64
	}
	return t.End
}
