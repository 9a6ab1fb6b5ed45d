// SPDX-License-Identifier: Apache-2.0

package footprint

import (
	"bytes"
	"math/bits"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// Entry is the combined effect of a transaction's changes on a key: a Put of its
// value, a Delete, or a Merge, whose operand applies to the earlier value of the
// key. It never changes.
type Entry struct {
	Key, Value []byte
	Kind       message.Kind
}

const entryOverhead = 80 // of an Entry besides its key and value

func (e Entry) key() []byte { return e.Key }
func (e Entry) bytes() int  { return len(e.Key) + len(e.Value) + entryOverhead }

// Writes are the changes of a transaction: range deletes, and entries that
// override them.
type Writes struct {
	entries List[Entry]
	deleted List[Span] // with other keys between them
	handed  int        // lists that callers hold
	kept    int        // bytes that are only in those
}

// Bytes is the memory of the entries and range deletes, including those that only
// returned lists still have.
func (w *Writes) Bytes() int { return w.entries.root.bytes() + w.deleted.root.bytes() + w.kept }

// Get returns the effect of the changes on the key. False means that they do
// not affect it.
func (w *Writes) Get(key []byte) (Entry, bool) {
	if e, ok := w.entries.get(key); ok {
		return e, true
	}
	if _, ok := Around(w.deleted, key); ok {
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

// DeleteRange removes the keys in [lo, hi). The bounds, which are not nil, are copied.
func (w *Writes) DeleteRange(lo, hi []byte) {
	if bytes.Compare(lo, hi) >= 0 {
		return
	}
	var gone int
	w.entries, gone = w.entries.without(lo, hi)
	w.keep(gone, w.entries.Len())
	// One span takes the place of all that it meets.
	if first, ok := w.deleted.last(lo); ok && bytes.Compare(first.Hi, lo) >= 0 {
		lo = first.Lo
	}
	if last, ok := w.deleted.last(hi); ok && bytes.Compare(last.Hi, hi) > 0 {
		hi = last.Hi
	}
	rest, gone := w.deleted.without(lo, append(bytes.Clone(hi), 0))
	w.deleted, _ = rest.with(Span{bytes.Clone(lo), bytes.Clone(hi)})
	w.keep(gone, w.deleted.Len())
}

// set copies the key and keeps the value.
func (w *Writes) set(key, value []byte, kind message.Kind) {
	var gone int
	w.entries, gone = w.entries.with(Entry{bytes.Clone(key), value, kind})
	w.keep(gone, w.entries.Len())
}

// keep counts what a change of a list of n items leaves to lists that were handed out:
// the items that went, and the nodes on the way to them.
func (w *Writes) keep(gone, n int) {
	if w.handed > 0 {
		w.kept += gone + 2*bits.Len(uint(n))*(entryOverhead+nodeOverhead)
	}
}

// All returns the current entries, and the deleted spans without the keys that have
// entries. Their memory counts until Release has been called as often as All.
func (w *Writes) All() (List[Entry], List[Span]) {
	w.handed++
	return w.entries, w.deleted
}

// Release means that the lists returned by one call of All are no longer in use.
func (w *Writes) Release() {
	if w.handed--; w.handed == 0 {
		w.kept = 0
	}
}

// Around returns the one of the spans that has the key.
func Around(spans List[Span], key []byte) (Span, bool) {
	span, ok := spans.last(key)
	return span, ok && bytes.Compare(key, span.Hi) < 0
}
