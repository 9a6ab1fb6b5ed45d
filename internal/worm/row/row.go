// SPDX-License-Identifier: Apache-2.0

// Package row is about rows of segments: the segments of a log, or of a
// replicated state machine, one after the other, each allocated when the one
// before is full.
//
// In: the results of a wor.Space. Out: the end of the row; what a result says
// about a register; and how long to wait for it. The log and the replicated
// state machine both use it.
package row

import (
	"errors"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Decided reports, from the error of a write or Propose, whether the register
// now holds a value or, being trimmed, never will.
func Decided(err error) bool {
	return err == nil || errors.Is(err, wor.ErrWritten) || errors.Is(err, wor.ErrTrimmed)
}

// Held returns the value of a register after a write of value that returned
// err. Err must be Decided and not ErrTrimmed.
func Held(value []byte, err error) []byte {
	if w := (*wor.WrittenError)(nil); errors.As(err, &w) {
		return w.Value
	}
	return value
}

// Ask requests the metadata of the segment of the row with that index. It may
// never call done; then nothing follows.
type Ask func(index uint32, done func(wor.Meta, error))

// finder looks for the last segment of a row. Allocated segments, including
// trimmed ones, come first; so it goes up in doubling steps and then bisects.
type finder struct {
	ask    Ask
	most   int64
	lo, hi int64 // lo is allocated, or -1; hi is not, or there is no bound yet: -1
	step   int64
	fails  int // of the same question
	meta   *wor.Meta
	done   func(index int64, m *wor.Meta, err error)
}

// failsMax is how often a question is repeated before the search is given up.
const failsMax = 4

// Last finds the last allocated segment of a row, given that segment known is
// allocated (-1: none is known) and none above most is. It passes the segment's
// Meta, except when the segment is known itself or trimmed.
func Last(known, most int64, ask Ask, done func(index int64, m *wor.Meta, err error)) {
	f := &finder{ask: ask, most: most, lo: known, hi: -1, step: 1, done: done}
	f.probe()
}

func (f *finder) probe() {
	if f.hi < 0 && f.lo+f.step > f.most {
		f.hi = f.most + 1
	}
	i := f.lo + f.step
	if f.hi >= 0 {
		i = f.lo + (f.hi-f.lo)/2
	}
	if i == f.lo {
		f.done(f.lo, f.meta, nil)
		return
	}
	f.ask(uint32(i), func(m wor.Meta, err error) {
		switch {
		case err == nil:
			f.lo, f.meta = i, &m
		case errors.Is(err, wor.ErrTrimmed):
			f.lo, f.meta = i, nil
		case errors.Is(err, wor.ErrUnallocated):
			f.hi, f.fails = i, 0
			f.probe()
			return
		case f.fails < failsMax && !errors.Is(err, wor.ErrClosed):
			f.fails++
			f.probe()
			return
		default:
			f.done(f.lo, nil, err)
			return
		}
		f.fails = 0
		f.step *= 2
		f.probe()
	})
}
