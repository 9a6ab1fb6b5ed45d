// SPDX-License-Identifier: Apache-2.0

package space_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

func (c *client) relocate(s wor.Segment, to wor.Partition) (err error) {
	c.l.t.Helper()
	over := false
	c.serial.Do(func() { c.Relocate(s, to, 0, func(e error) { err, over = e, true }) })
	c.l.must("relocate", func() bool { return over })
	return err
}

// TestRelocate moves closed segments: a client that knew an old place finds them, and a
// trim finds all places.
func TestRelocate(t *testing.T) {
	for i := range 6 {
		protocol, home := wor.Protocol(i%3), i/3 == 0
		t.Run(fmt.Sprintf("%v/home=%v", protocol, home), func(t *testing.T) {
			l := newLab(t, 1, 12, 3)
			s := wor.Segment(1)
			m := wor.Meta{Partition: 1, Protocol: protocol, Size: 40}
			if !home {
				m.Partition = 2
			}
			a, b := l.client(), l.client()
			if _, err := a.alloc(s, m); err != nil {
				t.Fatal(err)
			}
			is(t, a.relocate(s, 5), wor.ErrUnwritten)
			all := wor.Range{Segment: s, Hi: m.Size}
			token := b.capture(all)
			for off := range m.Size {
				is(t, a.propose(at(s, off), fmt.Sprint(off)), nil)
			}
			e := b.listen(all)
			is(t, a.relocate(s, m.Partition), nil)
			for n := range space.PlacementsMax {
				is(t, a.relocate(s, wor.Partition(n+3)), nil)
				for _, c := range []*client{a, b, l.client()} {
					cells, err := c.readRange(all)
					if err != nil {
						t.Fatal(err)
					}
					for off, cell := range cells {
						if cell.Err != nil || string(cell.Value) != fmt.Sprint(off) {
							t.Fatal(n, cell)
						}
					}
				}
				if n+1 < space.PlacementsMax && (!home || protocol == wor.Chain) {
					is(t, a.relocate(s, m.Partition), space.ErrRefused)
				}
				// No token is valid for a segment that has moved.
				c := l.client()
				holds(t, c.write(token, 3, "x"), "3")
				is(t, c.write(token, 4, "4"), nil)
				holds(t, c.writeRange(token, all, "x")[7], "7")
				holds(t, c.propose(at(s, 5), "x"), "5")
				holds(t, c.unsafe(at(s, 5), "x"), "5")
			}
			is(t, a.relocate(s, 11), wor.ErrLimit)
			is(t, b.trim(s), nil)
			for _, c := range []*client{a, b, l.client()} {
				_, err := c.read(at(s, 3))
				is(t, err, wor.ErrTrimmed)
			}
			e.check(t, "moved")
		})
	}
}

// TestRelocateAgainst: two clients move a segment to different places, and one trims it.
func TestRelocateAgainst(t *testing.T) {
	seen := map[string]int{}
	for seed := range seeds(t, 150) {
		l := newLab(t, uint64(seed), 3, 3)
		l.lose, l.late = .03, .02
		a, b, c := l.client(), l.client(), l.client()
		m := wor.Meta{Size: 5, Partition: wor.Partition(seed % 3), Protocol: wor.Protocol(seed / 3 % 3)}
		if _, err := a.alloc(1, m); err != nil {
			t.Fatal(err)
		}
		for off := range m.Size {
			is(t, a.propose(at(1, off), "x"), nil)
		}
		left := 0
		for i, o := range []*client{a, b} {
			left++
			o.serial.Do(func() {
				o.Relocate(1, wor.Partition((seed+1+i)%3), 0, func(err error) {
					seen[cause(err)]++
					left--
				})
			})
		}
		trims := seed/9%2 == 0
		if trims {
			left++
			l.at(time.Duration(l.random.Uint64()%uint64(5*time.Millisecond)), func() {
				c.serial.Do(func() { c.Trim(1, 0, func(err error) { is(t, err, nil); left-- }) })
			})
		}
		// Some look the segment up while it moves.
		var lookers []*client
		var look func()
		look = func() {
			if left > 0 {
				r := l.client()
				lookers = append(lookers, r)
				r.serial.Do(func() { r.Read(at(1, 0), 0, func([]byte, error) {}) })
				l.at(l.delay(), look)
			}
		}
		look()
		l.must("done", func() bool { return left == 0 })
		slices.Reverse(lookers) // the oldest would put the missing tombstones
		for _, o := range append(lookers, a, b, c, l.client()) {
			for off := range m.Size {
				if v, err := o.read(at(1, off)); trims {
					is(t, err, wor.ErrTrimmed)
				} else if err != nil || v != "x" {
					t.Fatal(seed, v, err)
				}
			}
		}
	}
	if seen["<nil>"] == 0 || seen[wor.ErrTrimmed.Error()] == 0 {
		t.Error("not all was seen:", seen)
	}
}
