// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"bytes"
	"math"
	"slices"
	"strconv"
)

// effect is the result of a partition's part of a request: the results of its
// operations, and the images of what it writes.
type effect struct {
	held    bool
	results []OpResult
	writes  []write
}

// evaluate evaluates a part on the state without changing it.
func (s *state) evaluate(q *Request) *effect {
	f := &effect{held: true}
	for i := range q.Conds {
		if !s.holds(&q.Conds[i]) {
			f.held = false
			return f
		}
	}
	f.results = make([]OpResult, len(q.Ops))
	at := map[string]int{} // where writes has a key
	for i := range q.Ops {
		o := &q.Ops[i]
		e, found := s.get(o.Key)
		if j, ok := at[o.Key]; ok {
			e, found = entry{f.writes[j].value, e.version}, !f.writes[j].deleted
		}
		w, changed := perform(o, e, found, &f.results[i])
		if !found && o.Kind == OpGet {
			f.results[i].Version = s.deleted
		}
		if !changed {
			continue
		}
		if j, ok := at[o.Key]; ok {
			f.writes[j] = w
		} else {
			at[o.Key] = len(f.writes)
			f.writes = append(f.writes, w)
		}
	}
	return f
}

func (s *state) holds(c *Cond) bool {
	e, found := s.get(c.Key)
	switch c.Kind {
	case CondAbsent:
		return !found
	case CondPresent:
		return found
	case CondVersion:
		return s.version(c.Key) == c.Version
	default:
		return found && bytes.Equal(e.value, c.Value)
	}
}

// perform evaluates one operation on the entry of a key.
func perform(o *Op, e entry, found bool, r *OpResult) (w write, changed bool) {
	r.Found = found
	if o.When == IfAbsent && found || o.When == IfPresent && !found {
		return write{}, false
	}
	r.Done = true
	refuse := func(err OpError) (write, bool) {
		r.Done, r.Err = false, err
		return write{}, false
	}
	switch o.Kind {
	case OpGet:
		r.Value, r.Version = e.value, e.version
		return write{}, false
	case OpPut:
		return write{key: o.Key, value: o.Value}, true
	case OpDelete:
		return write{key: o.Key, deleted: true}, found
	case OpIncr:
		n := int64(0)
		if found {
			var err error
			if n, err = strconv.ParseInt(string(e.value), 10, 64); err != nil {
				return refuse(OpNotInteger)
			}
		}
		if o.Delta > 0 && n > math.MaxInt64-o.Delta || o.Delta < 0 && n < math.MinInt64-o.Delta {
			return refuse(OpOverflow)
		}
		r.Number = n + o.Delta
		return write{key: o.Key, value: strconv.AppendInt(nil, r.Number, 10)}, true
	default: // OpAppend
		var old []byte
		if found {
			old = e.value
		}
		if len(old)+len(o.Value) > ValueMax {
			return refuse(OpTooLong)
		}
		r.Number = int64(len(old) + len(o.Value))
		return write{key: o.Key, value: slices.Concat(old, o.Value)}, true
	}
}

// locks are the locks of a partition. A key is locked by one transaction that
// writes it or by any number that read it. No transaction waits for a lock
// while holding one.
type locks struct {
	byKey map[string]*lock
}

type lock struct {
	readers int
	writer  bool
	waiting []func()
}

// lockWaitersMax bounds the calls that wait for one key; further ones must try
// again later.
const lockWaitersMax = 4096

// keysOf returns the keys of a part in order, each once: those that the part
// may write, and those that it only reads.
func keysOf(q *Request) (writes, reads []string) {
	for i := range q.Ops {
		if q.Ops[i].writes() {
			writes = append(writes, q.Ops[i].Key)
		}
	}
	slices.Sort(writes)
	writes = slices.Compact(writes)
	add := func(key string) {
		if _, ok := slices.BinarySearch(writes, key); !ok {
			reads = append(reads, key)
		}
	}
	for i := range q.Ops {
		add(q.Ops[i].Key)
	}
	for i := range q.Conds {
		add(q.Conds[i].Key)
	}
	slices.Sort(reads)
	return writes, slices.Compact(reads)
}

// blocked returns one of the keys whose lock is in the way, if there is one.
func (l *locks) blocked(writes, reads []string) (string, bool) {
	for _, k := range writes {
		if x := l.byKey[k]; x != nil && (x.writer || x.readers > 0) {
			return k, true
		}
	}
	for _, k := range reads {
		if x := l.byKey[k]; x != nil && x.writer {
			return k, true
		}
	}
	return "", false
}

// lock locks the keys, which must not be blocked.
func (l *locks) lock(writes, reads []string) {
	at := func(k string) *lock {
		x := l.byKey[k]
		if x == nil {
			x = &lock{}
			l.byKey[k] = x
		}
		return x
	}
	for _, k := range writes {
		at(k).writer = true
	}
	for _, k := range reads {
		at(k).readers++
	}
}

// unlock releases the keys. While a key stays free, unlock calls the functions
// that wait for it.
func (l *locks) unlock(writes, reads []string) {
	for _, k := range writes {
		l.byKey[k].writer = false
	}
	for _, k := range reads {
		l.byKey[k].readers--
	}
	for _, keys := range [][]string{writes, reads} {
		for _, k := range keys {
			l.wake(k)
		}
	}
}

func (l *locks) wake(k string) {
	for {
		x := l.byKey[k]
		if x == nil || x.writer || x.readers > 0 {
			return
		}
		if len(x.waiting) == 0 {
			delete(l.byKey, k)
			return
		}
		f := x.waiting[0]
		x.waiting = x.waiting[1:]
		f()
	}
}

// wait calls f when the locked key may be free. It returns false if too many
// calls wait for the key already.
func (l *locks) wait(k string, f func()) bool {
	x := l.byKey[k]
	if x == nil || len(x.waiting) >= lockWaitersMax {
		return false
	}
	x.waiting = append(x.waiting, f)
	return true
}
