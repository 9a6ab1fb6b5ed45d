// SPDX-License-Identifier: Apache-2.0

package footprint

import (
	"bytes"
	"slices"
	"sort"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// Entry is what a transaction's changes make of a key: a Put of its value, a
// Delete, or a Merge, whose operand is to be applied to what the key was before.
// It never changes.
type Entry struct {
	Key, Value []byte
	Kind       message.Kind
}

const entryOverhead = 160 // of an Entry in a map and two lists

// Writes is what a transaction has changed: range deletes, and on top of them
// entries.
type Writes struct {
	entries map[string]Entry
	deleted Spans
	// sorted are the entries in order, but for those in loose.
	sorted, loose []Entry
	bytes         int
}

// Bytes is the memory of the entries and range deletes.
func (w *Writes) Bytes() int { return w.bytes + w.deleted.Bytes() }

// Get returns what the changes make of the key. False: they leave it alone.
func (w *Writes) Get(key []byte) (Entry, bool) {
	if e, ok := w.entries[string(key)]; ok {
		return e, true
	}
	if _, ok := w.deleted.Around(key); ok {
		return Entry{Kind: message.Delete}, true
	}
	return Entry{}, false
}

// Put sets the value of the key. Both are copied.
func (w *Writes) Put(key, value []byte) { w.set(key, bytes.Clone(value), message.Put) }

// Delete removes the key, which is copied.
func (w *Writes) Delete(key []byte) { w.set(key, nil, message.Delete) }

// Merge changes the value of the key by the operand. Both are copied.
func (w *Writes) Merge(key, operand []byte, merger message.Merger) {
	before, ok := w.Get(key)
	switch {
	case !ok:
		w.set(key, bytes.Clone(operand), message.Merge)
	case before.Kind == message.Merge:
		w.set(key, merger.Combine(nil, key, before.Value, operand), message.Merge)
	default:
		w.set(key, merger.Apply(nil, key, before.Value, before.Kind == message.Put, operand), message.Put)
	}
}

// DeleteRange removes the keys in [lo, hi). The bounds are copied.
func (w *Writes) DeleteRange(lo, hi []byte) {
	w.deleted.Add(Span{lo, hi})
	all := w.inOrder()
	from, to := Search(all, lo), Search(all, hi)
	if from >= to {
		return
	}
	for _, e := range all[from:to] {
		delete(w.entries, string(e.Key))
	}
	w.sorted = slices.Concat(all[:from], all[to:])
}

// set copies the key and keeps the value.
func (w *Writes) set(key, value []byte, kind message.Kind) {
	if w.entries == nil {
		w.entries = map[string]Entry{}
	}
	e := Entry{bytes.Clone(key), value, kind}
	w.entries[string(key)] = e
	w.loose = append(w.loose, e)
	w.bytes += 2*len(key) + len(value) + entryOverhead
}

// All returns the entries in ascending order of their keys, and the spans that are
// deleted where there is no entry.
func (w *Writes) All() ([]Entry, []Span) {
	return w.inOrder(), w.deleted.All()
}

// inOrder returns the entries in order. It makes a new list if some are loose.
func (w *Writes) inOrder() []Entry {
	loose := w.loose
	if len(loose) == 0 {
		return w.sorted
	}
	slices.SortStableFunc(loose, func(a, b Entry) int { return bytes.Compare(a.Key, b.Key) })
	merged := make([]Entry, 0, len(w.sorted)+len(loose))
	old := w.sorted
	for i, e := range loose {
		if i+1 < len(loose) && bytes.Equal(e.Key, loose[i+1].Key) {
			continue // the next one is newer
		}
		n := Search(old, e.Key)
		merged = append(append(merged, old[:n]...), e)
		if old = old[n:]; len(old) > 0 && bytes.Equal(old[0].Key, e.Key) {
			old = old[1:]
		}
	}
	w.sorted, w.loose = append(merged, old...), nil
	return w.sorted
}

// Search is the index of the first entry with a key at or above key.
func Search(entries []Entry, key []byte) int {
	return sort.Search(len(entries), func(i int) bool { return bytes.Compare(entries[i].Key, key) >= 0 })
}
