// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// Every value ends with the number of the operation that wrote it, so that a
// value tells its own moment; a merge appends its operand, and the result ends
// with the number of the merge.
const trailer = 8

// value makes the value of an operation: size bytes or a few more, partly repetitive, so
// that it can be compressed.
func value(pos, size int, fill uint64) []byte {
	b := make([]byte, max(size, trailer))
	x := fill | 1
	for i := 0; i+8 <= len(b); i += 8 {
		if i%64 < 40 { // 40 of 64 bytes are noise
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
		binary.LittleEndian.PutUint64(b[i:], x)
	}
	binary.LittleEndian.PutUint64(b[len(b)-trailer:], uint64(pos)<<8|0xa5)
	return b
}

// writer is the number of the operation that wrote a value; -1: none did.
func writer(v []byte) int {
	if len(v) < trailer {
		return -1
	}
	x := binary.LittleEndian.Uint64(v[len(v)-trailer:])
	if x&0xff != 0xa5 || x>>8 > 1<<40 {
		return -1
	}
	return int(x >> 8)
}

// Concat is the Merger of the workloads: an operand is appended.
type Concat struct{}

var _ message.Merger = Concat{}

// Name implements message.Merger.
func (Concat) Name() string { return "concat" }

// Combine implements message.Merger.
func (Concat) Combine(dst, _, older, newer []byte) []byte {
	return append(append(dst, older...), newer...)
}

// Apply implements message.Merger.
func (Concat) Apply(dst, _, value []byte, _ bool, operand []byte) []byte {
	return append(append(dst, value...), operand...)
}

// record is one key and its value.
type record struct{ key, value []byte }

// entry states what the value of a key is from a moment on; nil is none.
type entry struct {
	pos   int
	value []byte
}

// history is what operations did to each key. Moment p is the one after
// operation p; the first moment is base.
type history struct {
	keys  []string // sorted: all keys of the operations
	index map[string]int
	log   [][]entry // of each key, in order
	base  int
	last  int
	diff  []int // scratch
	found []int // scratch
}

// newHistory starts at a moment when the content is that.
func newHistory(keys []string, base int, content []record) *history {
	h := &history{keys: keys, index: make(map[string]int, len(keys)), log: make([][]entry, len(keys)), base: base, last: base}
	for i, k := range keys {
		h.index[k] = i
		h.log[i] = append(make([]entry, 0, 4), entry{pos: base})
	}
	for _, r := range content {
		h.log[h.index[string(r.key)]][0].value = bytes.Clone(r.value)
	}
	return h
}

// at returns the value of key i at a moment.
func (h *history) at(i, pos int) []byte {
	log := h.log[i]
	for k := len(log) - 1; k >= 0; k-- {
		if log[k].pos <= pos {
			return log[k].value
		}
	}
	return nil
}

// content returns everything at a moment, in order.
func (h *history) content(pos int) []record {
	var out []record
	for i, k := range h.keys {
		if v := h.at(i, pos); v != nil {
			out = append(out, record{[]byte(k), v})
		}
	}
	return out
}

func (h *history) set(i, pos int, v []byte) {
	log := h.log[i]
	if n := len(log) - 1; log[n].pos == pos {
		log[n].value = v
		return
	}
	h.log[i] = append(log, entry{pos, v})
}

// do adds an operation that changes something, as the next moment.
func (h *history) do(o *Op) {
	h.last++
	o.each(func(o *Op) { h.step(o, h.last) })
}

func (h *history) step(o *Op, pos int) {
	switch o.Kind {
	case Put:
		h.set(h.index[o.Key], pos, o.value(pos))
	case Delete:
		h.set(h.index[o.Key], pos, nil)
	case Merge:
		i := h.index[o.Key]
		old := h.at(i, pos)
		h.set(i, pos, append(bytes.Clone(old), o.value(pos)...))
	case DeleteRange:
		for i, k := range h.keys {
			if o.Key <= k && k < o.End && h.at(i, pos) != nil {
				h.set(i, pos, nil)
			}
		}
	}
}

// undo removes the last operation, which had no effect. Its number stays used.
func (h *history) undo() {
	for i, log := range h.log {
		if n := len(log) - 1; log[n].pos == h.last && n > 0 {
			h.log[i] = log[:n]
		}
	}
}

// since reports whether any operation after a moment was not undone.
func (h *history) since(pos int) bool {
	for _, log := range h.log {
		if log[len(log)-1].pos > pos {
			return true
		}
	}
	return false
}

// forget removes everything after a moment.
func (h *history) forget(pos int) {
	for i, log := range h.log {
		n := len(log)
		for n > 1 && log[n-1].pos > pos {
			n--
		}
		h.log[i] = log[:n]
	}
}

// moments are the first and last moment within [lo, hi] at which the content
// is what was found, in time linear in the history. What was found is sorted.
// An error says why there is none.
func (h *history) moments(found []record, lo, hi int) (first, last int, err error) {
	if err := h.place(found); err != nil {
		return 0, 0, err
	}
	n := h.last - h.base + 1
	h.diff = append(h.diff[:0], make([]int, n+1)...)
	for i, log := range h.log {
		var want []byte
		if f := h.found[i]; f >= 0 {
			want = found[f].value
		}
		for k, e := range log {
			if !same(e.value, want) {
				continue
			}
			end := h.last + 1
			if k+1 < len(log) {
				end = log[k+1].pos
			}
			h.diff[e.pos-h.base]++
			h.diff[end-h.base]--
		}
	}
	first, last = -1, -1
	sum := 0
	for p := range n {
		sum += h.diff[p]
		if sum == len(h.keys) && lo <= p+h.base && p+h.base <= hi {
			last = p + h.base
			if first < 0 {
				first = last
			}
		}
	}
	if first < 0 {
		return 0, 0, fmt.Errorf("what was found is the content at no moment from %d to %d:\n%s", lo, hi, h.explain(found, lo, hi))
	}
	return first, last, nil
}

// same compares values of one key. Two values with the same end were written by one
// operation, and only then are the bytes compared.
func same(a, b []byte) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	return a == nil || writer(a) == writer(b) && bytes.Equal(a, b)
}

// place finds, for each key, which record belongs to it, and refuses keys that no client
// wrote, or that are not in order.
func (h *history) place(found []record) error {
	h.found = h.found[:0]
	for range h.keys {
		h.found = append(h.found, -1)
	}
	for f, r := range found {
		if f > 0 && bytes.Compare(found[f-1].key, r.key) >= 0 {
			return fmt.Errorf("a scan gives %q after %q", r.key, found[f-1].key)
		}
		i, ok := h.index[string(r.key)]
		if !ok {
			return fmt.Errorf("a scan gives %q, a key that was never written", r.key)
		}
		if r.value == nil {
			found[f].value = []byte{}
		}
		h.found[i] = f
	}
	return nil
}

// explain reports, for each key whose value is not right at all moments, when it would be
// right.
func (h *history) explain(found []record, lo, hi int) string {
	var b strings.Builder
	for i, key := range h.keys {
		var got []byte
		if f := h.found[i]; f >= 0 {
			got = found[f].value
		}
		var times []string
		whole := false
		for k, e := range h.log[i] {
			end := h.last
			if k+1 < len(h.log[i]) {
				end = h.log[i][k+1].pos - 1
			}
			if same(e.value, got) {
				times = append(times, fmt.Sprintf("%d-%d", e.pos, end))
				whole = whole || e.pos <= lo && end >= hi
			}
		}
		switch {
		case whole:
		case times == nil:
			fmt.Fprintf(&b, "    %-8q %s: at no moment\n", key, describe(got))
		default:
			fmt.Fprintf(&b, "    %-8q %s: right at %s\n", key, describe(got), strings.Join(times, ", "))
		}
		if !whole {
			fmt.Fprintf(&b, "    %-8s   then %s at %d, %s at %d\n", "", describe(h.at(i, lo)), lo, describe(h.at(i, hi)), hi)
		}
	}
	return b.String()
}

func describe(v []byte) string {
	switch {
	case v == nil:
		return "absent"
	case writer(v) < 0:
		return fmt.Sprintf("%d bytes that no operation wrote (%.16x...)", len(v), v)
	}
	return fmt.Sprintf("%d bytes of operation %d", len(v), writer(v))
}
