// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
)

// A history is a sequence of numbered batches. What batch n changes follows
// from the seed, the life that wrote it, and n, so that what a store holds can
// be judged without having seen what was written.

// change gives a key a value, or takes it away when the value is nil.
type change struct{ key, value []byte }

const (
	keys = 300
	// positionKey holds the number of the newest batch: each batch changes it.
	positionKey = "position"
)

// batch is what the batch of this number changes, in this life. No key is in it
// twice.
func batch(seed, life, number uint64) []change {
	r := rand.New(rand.NewPCG(seed, life<<32|number))
	var changes []change
	used := map[int]bool{}
	for range 1 + r.IntN(5) {
		k := r.IntN(keys)
		if used[k] {
			continue
		}
		used[k] = true
		c := change{key: fmt.Appendf(nil, "key%04d", k)}
		if p := r.IntN(100); p >= 20 {
			n := r.IntN(600)
			if p >= 99 {
				n = 20<<10 + r.IntN(20<<10)
			} else if p >= 95 {
				n = 2<<10 + r.IntN(6<<10)
			}
			// The beginning makes the value one of its own.
			c.value = fmt.Appendf(nil, "%d.%d.%d.", life, number, k)
			for len(c.value) < n {
				c.value = binary.LittleEndian.AppendUint64(c.value, r.Uint64())
			}
		}
		changes = append(changes, c)
	}
	return append(changes, change{key: []byte(positionKey), value: strconv.AppendUint(nil, number, 10)})
}

// syncs reports whether the writer waits until this batch is durable, as it
// does for one in every.
func syncs(seed, life, number uint64, every int) bool {
	return rand.New(rand.NewPCG(seed^0x5c, life<<32|number)).IntN(every) == 0
}

// print is what a value is recognised by.
type print struct {
	Len int
	CRC uint32
}

func printOf(value []byte) print { return print{len(value), crc32.ChecksumIEEE(value)} }

// history is which life wrote each batch, from number 1 on.
type history struct {
	seed  uint64
	lives []uint64
}

func (h *history) batch(number uint64) []change { return batch(h.seed, h.lives[number-1], number) }

// extend says that a life may have written batches up to this number.
func (h *history) extend(life, number uint64) {
	for uint64(len(h.lives)) < number {
		h.lives = append(h.lives, life)
	}
}

// cut forgets the batches behind this number.
func (h *history) cut(number uint64) { h.lives = h.lives[:number] }

// finding is what is wrong with a state, the worst that applies.
type finding uint8

const (
	fine finding = iota
	// unusable: what was written after the failure could not be read, or the
	// engine's own check complains.
	unusable
	// disordered: a batch is there, and an earlier one is not.
	disordered
	// halved: a part of a batch is there.
	halved
	// lost: what was acknowledged as durable is not there.
	lost
	// damaged: a value that was never written, or one on which reads disagree.
	damaged
	// refused: the engine does not open, or ends.
	refused
	findings
)

func (f finding) String() string {
	return [...]string{"fine", "unusable after", "broken order", "split batch", "lost synced", "damaged", "refused to open"}[f]
}

// verdict is what a state is.
type verdict struct {
	Finding finding
	// Position is the number of the last batch, when the state is what the
	// batches up to one make.
	Position uint64
	Detail   string
}

// written is one change of a key in a history: by which batch, and what.
type written struct {
	number uint64
	absent bool
	print  print
}

// judge says what a state is, given that the batches up to durable were
// acknowledged.
func (h *history) judge(durable uint64, found map[string]print) verdict {
	writes := map[string][]written{}
	now := map[string]print{}
	differ := map[string]bool{} // keys in which now is not what was found
	compare := func(key string) {
		a, inNow := now[key]
		b, inFound := found[key]
		if inNow == inFound && a == b {
			delete(differ, key)
		} else {
			differ[key] = true
		}
	}
	for key := range found {
		compare(key)
	}
	position, is := uint64(0), len(differ) == 0
	for n := uint64(1); n <= uint64(len(h.lives)); n++ {
		for _, c := range h.batch(n) {
			key := string(c.key)
			w := written{number: n, absent: c.value == nil, print: printOf(c.value)}
			writes[key] = append(writes[key], w)
			if w.absent {
				delete(now, key)
			} else {
				now[key] = w.print
			}
			compare(key)
		}
		if len(differ) == 0 {
			position, is = n, true
		}
	}
	switch {
	case is && position >= durable:
		return verdict{Position: position}
	case is:
		return verdict{lost, position, fmt.Sprintf("it is as after batch %d; batch %d was acknowledged", position, durable)}
	}
	return h.explain(durable, found, writes)
}

// explain says what is wrong with a state that no number of batches makes.
func (h *history) explain(durable uint64, found map[string]print, writes map[string][]written) verdict {
	newest := map[string]uint64{} // the last batch that may have made the key what it is
	all := map[string]bool{}
	for key := range found {
		all[key] = true
	}
	for key := range writes {
		all[key] = true
	}
	var worst verdict
	add := func(f finding, format string, args ...any) {
		if f > worst.Finding {
			worst = verdict{Finding: f, Detail: fmt.Sprintf(format, args...)}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		is, present := found[key]
		known := !present // it had no value at first
		due := uint64(0)  // the last batch up to durable that changed it
		for _, w := range writes[key] {
			if w.number <= durable {
				due = w.number
			}
			if w.absent == !present && (w.absent || w.print == is) {
				known, newest[key] = true, w.number
			}
		}
		switch {
		case !known:
			add(damaged, "%s has a value of %d bytes that was never written", key, is.Len)
		case newest[key] < due:
			add(lost, "%s is as after batch %d; batch %d changed it, and batch %d was acknowledged", key, newest[key], due, durable)
		}
	}
	for n := uint64(len(h.lives)); n > durable; n-- {
		if key, other := h.splitBy(n, found, newest); key != "" {
			add(halved, "batch %d is there in %s, and in %s it is not", n, key, other)
		}
	}
	add(disordered, "a batch is missing before one that is there")
	return worst
}

// splitBy finds a key that shows the batch, and one that shows that it is
// missing.
func (h *history) splitBy(number uint64, found map[string]print, newest map[string]uint64) (there, missing string) {
	for _, c := range h.batch(number) {
		key := string(c.key)
		_, present := found[key]
		if present && newest[key] == number {
			there = key
		}
		if newest[key] < number {
			missing = key
		}
	}
	if there == "" || missing == "" {
		return "", ""
	}
	return there, missing
}
