// SPDX-License-Identifier: Apache-2.0

package log

import (
	"errors"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/worm/row"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// fence captures a whole segment, which invalidates all tokens handed out for it
// before, and then decides its registers. Where the capture saw no entry it
// writes junk. Where it saw one, it completes the entries near the end.
//
// The capture alone is not enough. After the fence, an append with a token of the
// old sequencer may still reach one server that the capture did not ask. The next
// client that captures the register, perhaps the appender itself, would find its
// value and complete it. That append would then end below appends that had ended
// before it began. A decided register cannot take the value.
//
// An entry that the capture saw need not be decided. Its append began before the
// capture ended, and the sequencer hands out each address once, so the register
// can only become that entry or junk. Junk that the capture saw must be decided:
// an earlier fence or a reader wrote it, perhaps to one server only, and the
// sequencer may still hand out the address.
type fence struct {
	b     *base
	id    ID
	index uint32
	size  uint32
	gate  func(func())
	done  func(fenced)

	hi      uint32 // registers from here on are captured and settled
	end     uint32 // one above the highest register in which an entry was seen; 0 so far
	wave    []*wor.Token
	left    int
	trimmed bool
}

// fenced is the result of a fence.
type fenced struct {
	trimmed bool
	// open: register 0 holds a mark.
	open bool
	mark mark
}

// fenceChunks is the number of captures, of chunk registers each, in flight.
const fenceChunks = 8

// completeMax is the number of registers below the end in which a fence completes
// the entries that it saw. Readers complete half-written registers below those.
// It is a variable for tests.
var completeMax uint32 = 256

func (f *fence) start() {
	f.hi = f.size
	f.capture()
}

func (f *fence) segment() wor.Segment { return f.id.Segment(f.index) }

// capture captures the next chunks from the top.
func (f *fence) capture() {
	f.wave = f.wave[:0]
	hi := f.hi
	for len(f.wave) < fenceChunks && hi > 0 {
		lo := hi - min(hi, chunk)
		f.wave = append(f.wave, nil)
		f.one(len(f.wave)-1, wor.Range{Segment: f.segment(), Lo: lo, Hi: hi})
		hi = lo
	}
	f.hi, f.left = hi, len(f.wave)
}

// one captures one chunk; it retries until it succeeds.
func (f *fence) one(i int, r wor.Range) {
	f.b.space.Capture(r, f.b.timeout, func(t *wor.Token, err error) {
		switch {
		case f.b.closed:
			return
		case errors.Is(err, wor.ErrTrimmed):
			f.trimmed = true
		case err != nil:
			f.gate(func() { f.one(i, r) })
			return
		default:
			f.wave[i] = entries(t)
		}
		if f.left--; f.left == 0 {
			f.seen()
		}
	})
}

// entries returns the token without the junk that its capture saw. So settle
// writes registers with junk like free ones, in one request; the value to be
// adopted there is the junk that the fence writes anyway.
func entries(t *wor.Token) *wor.Token {
	e := t.Part(t.Range)
	e.Adopted = slices.DeleteFunc(e.Adopted, func(a wor.Adopted) bool { return string(a.Value) == string(junk()) })
	return e
}

// seen continues when a wave is captured.
func (f *fence) seen() {
	if f.trimmed {
		f.done(fenced{trimmed: true})
		return
	}
	for _, t := range f.wave {
		if n := len(t.Adopted); n > 0 && f.end == 0 {
			f.end = t.Adopted[n-1].Offset + 1
		}
	}
	if f.hi > 0 {
		f.settle(f.capture)
		return
	}
	f.register0(f.wave[len(f.wave)-1], func(value []byte) {
		m, open := decodeMark(value)
		if !open {
			// The sequencer never handed out a token for this segment.
			f.done(fenced{})
			return
		}
		f.settle(func() { f.done(fenced{open: true, mark: m}) })
	})
}

// register0 finds the final value of register 0.
func (f *fence) register0(t *wor.Token, done func([]byte)) {
	a := wor.Addr{Segment: f.segment()}
	var propose func()
	finish := func(err error) {
		switch {
		case f.b.closed:
		case errors.Is(err, wor.ErrTrimmed):
			f.done(fenced{trimmed: true})
		case !row.Decided(err):
			f.gate(propose)
		default:
			done(row.Held(junk(), err))
		}
	}
	propose = func() { f.b.space.Propose(a, junk(), f.b.timeout, finish) }
	f.b.space.Write(t, 0, junk(), f.b.timeout, finish)
}

// settle decides the registers of the wave.
func (f *fence) settle(done func()) {
	left := 1
	finish := func() {
		if left--; left == 0 {
			done()
		}
	}
	for _, t := range f.wave {
		for _, r := range f.unsettled(t) {
			left++
			f.b.junkWith(t, r, func(all bool) {
				if all {
					finish()
					return
				}
				f.gate(func() { f.b.junkRange(r, f.gate, finish) })
			})
		}
	}
	finish()
}

// unsettled returns the runs of a token's registers to write: those without an
// entry, and entries near the end, unless they are known to be decided.
func (f *fence) unsettled(t *wor.Token) []wor.Range {
	var out []wor.Range
	for off := t.Range.Lo; off < t.Range.Hi; off++ {
		_, free := t.Find(off)
		if !free && off+completeMax < f.end {
			continue
		}
		if _, known := f.b.space.Known(wor.Addr{Segment: f.segment(), Offset: off}); known {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Hi == off {
			out[n-1].Hi++
		} else {
			out = append(out, wor.Range{Segment: f.segment(), Lo: off, Hi: off + 1})
		}
	}
	return out
}
