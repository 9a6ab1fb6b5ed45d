// SPDX-License-Identifier: Apache-2.0

package row_test

import (
	"errors"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/row"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestLast finds the end of rows of all lengths, some of which are trimmed up to some
// segment, from every segment that may be known, with few questions.
func TestLast(t *testing.T) {
	const most = 40
	for length := range int64(most + 2) {
		for trimmed := range length + 1 {
			for known := int64(-1); known < length; known++ {
				asked, answered := 0, 0
				ask := func(i uint32, done func(wor.Meta, error)) {
					if asked++; asked%5 == 3 {
						done(wor.Meta{}, wor.ErrDeadline)
						return
					}
					switch n := int64(i); {
					case n > most:
						t.Fatalf("segment %d was asked for", n)
					case n < trimmed:
						done(wor.Meta{}, wor.ErrTrimmed)
					case n < length:
						done(wor.Meta{Owner: uint64(n)}, nil)
					default:
						done(wor.Meta{}, wor.ErrUnallocated)
					}
				}
				row.Last(known, most, ask, func(index int64, m *wor.Meta, err error) {
					answered++
					if err != nil || index != length-1 {
						t.Errorf("length %d, trimmed %d, known %d: got %d, %v", length, trimmed, known, index, err)
					}
					if has := length-1 > known && length-1 >= trimmed; has != (m != nil) || has && m.Owner != uint64(length-1) {
						t.Errorf("length %d, trimmed %d, known %d: metadata %v", length, trimmed, known, m)
					}
				})
				if answered != 1 || asked > 20 {
					t.Errorf("length %d: %d answers after %d questions", length, answered, asked)
				}
			}
		}
	}
}

func TestLastGivesUp(t *testing.T) {
	answers := 0
	row.Last(3, 9, func(_ uint32, done func(wor.Meta, error)) { done(wor.Meta{}, wor.ErrDeadline) },
		func(index int64, m *wor.Meta, err error) {
			answers++
			if index != 3 || m != nil || !errors.Is(err, wor.ErrDeadline) {
				t.Errorf("got %d, %v, %v", index, m, err)
			}
		})
	if answers != 1 {
		t.Errorf("%d answers", answers)
	}
}

func TestHeldAndDecided(t *testing.T) {
	other := &wor.WrittenError{Value: []byte("other")}
	if string(row.Held([]byte("mine"), nil)) != "mine" || string(row.Held([]byte("mine"), other)) != "other" {
		t.Error("Held")
	}
	for err, want := range map[error]bool{nil: true, other: true, wor.ErrTrimmed: true, wor.ErrUnknown: false, wor.ErrDeadline: false} {
		if row.Decided(err) != want {
			t.Errorf("Decided(%v)", err)
		}
	}
}

// hand is a clock that the test advances.
type hand struct {
	env.Clock
	now env.Instant
}

func (h *hand) Now() env.Instant { return h.now }

// TestPatience gives a patience answers that take a certain time: it must learn to wait
// for them and, if they are fast again, must return to its first wait.
func TestPatience(t *testing.T) {
	h := &hand{}
	p := row.NewPatience(h, time.Second)
	for _, step := range []struct {
		takes time.Duration
		times int
		want  time.Duration // the wait at the end
	}{
		{100 * time.Millisecond, 20, time.Second},
		{900 * time.Millisecond, 20, time.Second},
		{1100 * time.Millisecond, 1, time.Second}, // a single late answer may be lost
		{100 * time.Millisecond, 1, time.Second},
		{1100 * time.Millisecond, 2, 2 * time.Second},
		{10 * time.Second, 20, 16 * time.Second},
		{3 * time.Second, 20, 16 * time.Second}, // no oscillation
		{time.Hour, 100, 64 * time.Second},
		{100 * time.Millisecond, 6, time.Second},
	} {
		for range step.times {
			within, ended := p.Begin()
			h.now = h.now.Add(min(within, step.takes))
			ended(step.takes > within)
		}
		if got, _ := p.Begin(); got != step.want {
			t.Errorf("after %d times %v: %v, want %v", step.times, step.takes, got, step.want)
		}
	}
	// Many answers that are awaited at the same time count as one experience.
	var late []func(bool)
	for range 50 {
		_, ended := p.Begin()
		late = append(late, ended)
	}
	for _, ended := range late {
		ended(true)
	}
	if got, _ := p.Begin(); got != 2*time.Second {
		t.Errorf("after fifty that were late at one time: %v, want 2s", got)
	}
}
