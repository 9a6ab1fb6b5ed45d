// SPDX-License-Identifier: Apache-2.0

package log

import (
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// junkSpace is a space in which a capture sees a mark in register 0 and junk in
// all others. It counts what is written.
type junkSpace struct {
	wor.Space
	written map[uint32]string
	ranges  int
	later   []func()
}

func (s *junkSpace) Capture(r wor.Range, _ time.Duration, done func(*wor.Token, error)) {
	t := &wor.Token{Range: r}
	for off := r.Lo; off < r.Hi; off++ {
		v := junk()
		if off == 0 {
			v = mark{owner: 1}.encode()
		}
		t.Adopted = append(t.Adopted, wor.Adopted{Offset: off, Value: v})
	}
	s.later = append(s.later, func() { done(t, nil) })
}

func (s *junkSpace) Known(wor.Addr) ([]byte, bool) { return nil, false }

func (s *junkSpace) Write(t *wor.Token, off uint32, value []byte, _ time.Duration, done func(error)) {
	v, free := t.Find(off)
	if free {
		s.written[off] = string(value)
		done(nil)
		return
	}
	s.written[off] = string(v)
	done(&wor.WrittenError{Addr: wor.Addr{Segment: t.Range.Segment, Offset: off}, Value: v})
}

func (s *junkSpace) WriteRange(t *wor.Token, r wor.Range, value []byte, _ time.Duration, done func([]error)) {
	s.ranges++
	errs := make([]error, r.Len())
	for i := range errs {
		s.Write(t, r.Lo+uint32(i), value, 0, func(err error) { errs[i] = err })
	}
	done(errs)
}

// TestFenceDecidesJunk: a fence decides registers in which it sees the junk of
// an earlier fence, which may have reached one server only; and they cost no
// more requests than free ones.
func TestFenceDecidesJunk(t *testing.T) {
	const size = 4 * chunk
	s := &junkSpace{written: map[uint32]string{}}
	ended := false
	f := &fence{b: &base{space: s}, id: 7, size: size, done: func(found fenced) { ended = found.open }}
	f.start()
	for len(s.later) > 0 {
		next := s.later[0]
		s.later = s.later[1:]
		next()
	}
	if !ended {
		t.Fatal("the fence does not end")
	}
	if len(s.written) != size {
		t.Errorf("%d of %d registers are written", len(s.written), size)
	}
	for off, v := range s.written {
		if want := string(junk()); off > 0 && v != want {
			t.Errorf("register %d gets %q", off, v)
		}
	}
	if s.ranges != size/chunk {
		t.Errorf("%d requests to write ranges, want %d", s.ranges, size/chunk)
	}
}
