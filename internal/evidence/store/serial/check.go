// SPDX-License-Identifier: Apache-2.0

package serial

import (
	"cmp"
	"maps"
	"slices"
)

// version is the value that a transaction left in a key; the first version is that of no
// transaction.
type version struct {
	txn    int // -1: none
	place  int // in Order, from 1 on; 0: before all
	value  string
	exists bool
}

type checker struct {
	h        *History
	keys     []string             // all keys of the history
	versions map[string][]version // by key, in order
	by       map[string]map[string]int
	place    []int // in Order, by transaction; 0: it changed nothing
	// at is place, or where in Order a transaction that changed nothing is taken to be.
	at    []int
	edges [][]edge
	names []string // of the nodes
}

// Check returns nil or an Anomaly.
func Check(h *History) error {
	c := &checker{h: h, versions: map[string][]version{}, by: map[string]map[string]int{}, place: make([]int, len(h.Txns))}
	for _, step := range []func() *Anomaly{c.order, c.collect, c.own, c.draw, c.cycle} {
		if a := step(); a != nil {
			return a
		}
	}
	return nil
}

// order checks that Order has the transactions that committed changes, each once.
func (c *checker) order() *Anomaly {
	for i, t := range c.h.Order {
		switch {
		case t < 0 || t >= len(c.h.Txns):
			return anomaly("the order names transaction %d of %d", t, len(c.h.Txns))
		case c.place[t] > 0:
			return anomaly("the changes of %s were made twice", c.h.Txns[t].Name)
		case !c.h.Txns[t].Committed:
			return anomaly("the changes of %s were made, which did not commit", c.h.Txns[t].Name)
		}
		c.place[t] = i + 1
	}
	for i := range c.h.Txns {
		if t := &c.h.Txns[i]; t.Committed && t.writes() && c.place[i] == 0 {
			return anomaly("the changes of %s, which committed, are lost", t.Name)
		}
	}
	return nil
}

// collect finds the keys and their versions.
func (c *checker) collect() *Anomaly {
	named := map[string]bool{}
	for i := range c.h.Txns {
		for _, o := range c.h.Txns[i].Ops {
			if o.Kind != Scan && o.Kind != DeleteRange {
				named[o.Key] = true
			}
			for k := range o.Rows {
				named[k] = true
			}
		}
	}
	c.keys = slices.Sorted(maps.Keys(named))
	for _, k := range c.keys {
		c.versions[k] = []version{{txn: -1}}
		c.by[k] = map[string]int{}
	}
	if a := c.unique(); a != nil {
		return a
	}
	for i, t := range c.h.Order {
		for _, k := range c.keys {
			list := c.versions[k]
			v, wrote := list[len(list)-1], false
			for _, o := range c.h.Txns[t].Ops {
				wrote = v.write(o, k) || wrote
			}
			if !wrote {
				continue
			}
			v.txn, v.place = t, i+1
			if v.exists {
				c.by[k][v.value] = len(list)
			}
			c.versions[k] = append(list, v)
		}
	}
	return nil
}

// unique checks that a value of a key says which operation has made it: no two
// operations, of transactions that committed or did not, write the same, and none makes
// a value that another one makes. What an operand that did not commit has made of
// another's value is not known, only the operand.
func (c *checker) unique() *Anomaly {
	type made struct{ key, value string }
	written, values := map[made]bool{}, map[made]bool{}
	for i := range c.h.Txns {
		for _, o := range c.h.Txns[i].Ops {
			if o.Kind != Put && o.Kind != Append {
				continue
			}
			m := made{o.Key, o.Value}
			if written[m] {
				return anomaly("key %q was twice given the value %q", m.key, m.value)
			}
			written[m] = true
		}
	}
	now := State{}
	for _, t := range c.h.Order {
		for _, o := range c.h.Txns[t].Ops {
			now.Apply(o)
			if o.Kind != Put && o.Kind != Append {
				continue
			}
			m := made{o.Key, now[o.Key]}
			if values[m] {
				return anomaly("key %q was twice given the value %q", m.key, m.value)
			}
			values[m] = true
		}
	}
	for i := range c.h.Txns {
		if c.h.Txns[i].Committed {
			continue
		}
		own := State{} // what it made of keys without knowing what others have made
		for _, o := range c.h.Txns[i].Ops {
			switch _, based := own[o.Key]; {
			case o.Kind == Delete || o.Kind == DeleteRange:
				for _, k := range c.keys {
					if o.Kind == Delete && k == o.Key || o.Kind == DeleteRange && o.in(k) {
						own[k] = ""
					}
				}
			case o.Kind == Put, o.Kind == Append && based:
				own.Apply(o)
				m := made{o.Key, own[o.Key]}
				if values[m] {
					return anomaly("key %q was twice given the value %q", m.key, m.value)
				}
				values[m] = true
			}
		}
	}
	return nil
}

// write makes what the operation makes of the key, and reports whether that is
// anything.
func (v *version) write(o Op, key string) bool {
	switch {
	case o.Kind == Put && o.Key == key:
		v.value, v.exists = o.Value, true
	case o.Kind == Append && o.Key == key:
		v.value, v.exists = v.value+o.Value, true
	case o.Kind == Delete && o.Key == key, o.Kind == DeleteRange && o.in(key):
		v.value, v.exists = "", false
	default:
		return false
	}
	return true
}

// seen is what a transaction saw of a key before it changed it. After an Append of its
// own it still sees what others did.
type seen struct {
	value  string
	exists bool
}

// own checks that each transaction saw its own changes, and the same values in all its
// reads of a key.
func (c *checker) own() *Anomaly {
	for i := range c.h.Txns {
		if _, a := c.reads(&c.h.Txns[i]); a != nil {
			return a
		}
	}
	return nil
}

// reads returns what a transaction saw of keys that others wrote.
func (c *checker) reads(t *Txn) (map[string]seen, *Anomaly) {
	out := map[string]seen{}
	for n, o := range t.Ops {
		for _, k := range c.of(o) {
			was, found := o.Rows[k]
			if o.Kind == Read {
				was, found = o.Value, o.Found
			}
			s, others, ok := beforeOwn(t.Ops[:n], k, was, found)
			if !ok {
				return nil, anomaly("%s: %s of %q found %q (%t), against its own changes", t.Name, o.Kind, k, was, found)
			}
			if earlier, again := out[k]; others && again && earlier != s {
				return nil, anomaly("%s saw two states of key %q: %v and %v", t.Name, k, earlier, s)
			}
			if others {
				out[k] = s
			}
		}
	}
	return out, nil
}

// of lists the keys that an operation reads.
func (c *checker) of(o Op) []string {
	switch o.Kind {
	case Read:
		return []string{o.Key}
	case Scan:
		lo, _ := slices.BinarySearch(c.keys, o.Key)
		hi := len(c.keys)
		if o.End != "" {
			hi, _ = slices.BinarySearch(c.keys, o.End)
		}
		return c.keys[lo:max(lo, hi)]
	}
	return nil
}

// beforeOwn takes the transaction's own changes of a key off what it read. Others is
// false when what it read is its own alone, ok when it cannot have read that.
func beforeOwn(own []Op, key, value string, found bool) (s seen, others, ok bool) {
	for i := len(own) - 1; i >= 0; i-- {
		switch o := own[i]; {
		case o.Kind == Append && o.Key == key:
			n := len(value) - len(o.Value)
			if !found || n < 0 || value[n:] != o.Value {
				return s, false, false
			}
			// Whether there was an empty value below cannot be seen.
			value, found = value[:n], n > 0 || ownBelow(own[:i], key)
		case o.Kind == Put && o.Key == key:
			return s, false, found && value == o.Value
		case o.Kind == Delete && o.Key == key, o.Kind == DeleteRange && o.in(key):
			return s, false, !found
		}
	}
	return seen{value, found}, true, true
}

// ownBelow reports whether the newest change of the key made it exist.
func ownBelow(own []Op, key string) bool {
	v := version{}
	for _, o := range own {
		v.write(o, key)
	}
	return v.exists
}

// draw makes the graph. Its nodes are the transactions, and a chain of moments for real
// time. One that did not commit is a reader: it changed nothing, and what it read must
// be consistent all the same.
func (c *checker) draw() *Anomaly {
	c.edges = make([][]edge, len(c.h.Txns))
	for i := range c.h.Txns {
		c.names = append(c.names, c.h.Txns[i].Name)
	}
	for _, k := range c.keys {
		list := c.versions[k]
		for i := 1; i < len(list); i++ {
			c.edge(list[i-1].txn, list[i].txn, "ww", k)
		}
	}
	byBegin := make([]int, 0, len(c.h.Txns))
	for i := range c.h.Txns {
		byBegin = append(byBegin, i)
	}
	slices.SortFunc(byBegin, func(a, b int) int { return cmp.Compare(c.h.Txns[a].Began, c.h.Txns[b].Began) })
	c.at = slices.Clone(c.place)
	for _, t := range byBegin {
		if a := c.drawReads(t); a != nil {
			return a
		}
	}
	c.realtime()
	return nil
}

// drawReads draws the edges from and to a transaction that follow from its reads.
func (c *checker) drawReads(t int) *Anomaly {
	reads, _ := c.reads(&c.h.Txns[t])
	// If an absent key was deleted more than once, the read saw the version nearest to
	// the transaction's place.
	at := c.place[t] - 1
	if at < 0 {
		at = c.least(t, reads)
		c.at[t] = at
	}
	for k, s := range reads {
		i, ok := c.by[k][s.value]
		switch list := c.versions[k]; {
		case !s.exists:
			i = absentAt(list, at, c.place[t] > 0)
		case !ok:
			return anomaly("%s read %q of key %q, which no transaction that committed has left", c.h.Txns[t].Name, s.value, k)
		}
		list := c.versions[k]
		c.edge(list[i].txn, t, "wr", k)
		if i+1 < len(list) {
			c.edge(t, list[i+1].txn, "rw", k)
		}
	}
	return nil
}

// least is the first place in the order where a transaction that changed nothing may
// be, by what it read and what had ended before it began; those have their places.
func (c *checker) least(t int, reads map[string]seen) int {
	at := 0
	for i, p := range c.at {
		if p > at && c.h.Txns[i].Ended < c.h.Txns[t].Began {
			at = p
		}
	}
	for k, s := range reads {
		if i, ok := c.by[k][s.value]; s.exists && ok {
			at = max(at, c.versions[k][i].place)
		}
	}
	for moved := true; moved; {
		moved = false
		for k, s := range reads {
			if list := c.versions[k]; !s.exists {
				if i := absentAt(list, at, false); list[i].place > at {
					at, moved = list[i].place, true
				}
			}
		}
	}
	return at
}

// absentAt is the index of the version without a value that is current at a place. If
// the current one has a value, it is the one before, or with back not set the one
// after, if there is one. The first version of all is one.
func absentAt(list []version, at int, back bool) int {
	last := 0
	for i, v := range list {
		switch {
		case v.exists:
		case v.place <= at:
			last = i
		case back || last+1 == len(list) || list[last+1].place > at:
			return last
		default:
			return i
		}
	}
	return last
}

// realtime draws edges from each transaction to all that began after it had ended, by
// way of a chain of moments.
func (c *checker) realtime() {
	done := make([]int, len(c.h.Txns))
	for i := range done {
		done[i] = i
	}
	slices.SortFunc(done, func(a, b int) int { return cmp.Compare(c.h.Txns[a].Ended, c.h.Txns[b].Ended) })
	first := len(c.edges)
	for n, t := range done {
		c.edges = append(c.edges, nil)
		c.names = append(c.names, "a moment")
		c.edge(t, first+n, "rt", "")
		if n > 0 {
			c.edge(first+n-1, first+n, "rt", "")
		}
	}
	for _, t := range done {
		n, _ := slices.BinarySearchFunc(done, c.h.Txns[t].Began, func(d int, began int64) int {
			return cmp.Compare(c.h.Txns[d].Ended, began)
		})
		if n > 0 {
			c.edge(first+n-1, t, "rt", "")
		}
	}
}
