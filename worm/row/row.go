// Package row is about rows of segments: those of a log, or of a replicated state
// machine, one after the other, each allocated when the one before is full.
//
// In: what a wor.Space answers. Out: where the row ends, and what an answer says of
// a register; and how long to wait for it. Both applications that have rows stand on
// it.
package row

import (
	"errors"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Decided says of the error of a write or Propose that the register holds a value
// now, or never will: it is trimmed.
func Decided(err error) bool {
	return err == nil || errors.Is(err, wor.ErrWritten) || errors.Is(err, wor.ErrTrimmed)
}

// Held is the value that a register holds according to the error of a write of
// value. It is for errors that are Decided, and not ErrTrimmed.
func Held(value []byte, err error) []byte {
	if w := (*wor.WrittenError)(nil); errors.As(err, &w) {
		return w.Value
	}
	return value
}

// Ask has the metadata of a segment of the row asked for, by its index. It may
// never call done, and then nothing follows.
type Ask func(index uint32, done func(wor.Meta, error))

// finder looks for the last segment of a row. Those that are allocated, or were
// and are trimmed, come first; so it goes up in steps that double, and then halves
// what is between.
type finder struct {
	ask    Ask
	most   int64
	lo, hi int64 // lo is allocated, or -1; hi is not, or there is no bound yet: -1
	step   int64
	fails  int // of the same question
	meta   *wor.Meta
	done   func(index int64, m *wor.Meta, err error)
}

// failsMax is how often a question is asked again before the search is given up.
const failsMax = 4

// Last finds the last segment of a row that is allocated, when known is (-1: none)
// and none is above most. Its Meta is answered when it is not known itself, and not
// trimmed.
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
