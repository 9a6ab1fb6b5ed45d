// Package product has what product code needs beyond the core of the subset.
package product

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// ErrFull is known by its name.
var ErrFull = errors.New("full")

var names = [...]string{1: "one", 2: "two"}

type table struct {
	counts [4]uint64
	low    int32
	err    error
}

// count is a method of an element of an array.
func (t *table) count(i int, by uint64) [4]uint64 {
	t.counts[i] += by
	t.low--
	t.low = int32(by) * 2
	return t.counts
}

func (t *table) part() []uint64 { return t.counts[1:3:4] }

// String is for people.
//
//goose:omit
func (t *table) String() string { return fmt.Sprint(t.counts) }

// must is an assertion.
//
//goose:assert
func must(ok bool, format string, args ...any) {
	if !ok {
		panic(fmt.Sprintf(format, args...))
	}
}

type counter interface {
	count(i int, by uint64) [4]uint64
	part() []uint64
}

type wrapped struct {
	table
	bytes []byte
}

func use(c counter, more ...uint64) (n uint64, err error) {
	if c == nil {
		err = ErrFull
		return
	}
	must(len(more) > 0, "no numbers in %v", more)
	for _, x := range c.count(2, more[0]) {
		n = max(n, x)
	}
	part := c.part
	return n + part()[0], fmt.Errorf("number %d", n)
}

func wrap(w *wrapped) (string, bool) {
	defer func() { w.bytes = nil }()
	use(w, 1, 2)
	use(nil)
	w.low++
	w.bytes = binary.LittleEndian.AppendUint32(w.bytes, uint32(w.low))
	w.bytes = slices.Insert(w.bytes, 1, 7)
	return names[w.low], bytes.Equal(w.bytes, nil) && errors.Is(w.err, ErrFull)
}
