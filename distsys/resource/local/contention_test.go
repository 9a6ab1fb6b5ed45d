// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// frozen is a clock on which no time passes: what wakes a section while it
// runs is a resource.
type frozen struct{}

func (frozen) Now() env.Instant                         { return 0 }
func (frozen) Wall() time.Time                          { return time.Time{} }
func (frozen) After(time.Duration, env.Waker) env.Timer { return frozen{} }
func (frozen) Stop() bool                               { return true }

type section = func(s *int, tx *distsys.Tx) (distsys.Label, error)

// still makes an instance that lives on the frozen clock.
func still(t *testing.T, self int, run section) *distsys.Instance[int] {
	t.Helper()
	in, err := distsys.New(&distsys.Archetype[int]{Name: "A", Sections: []distsys.Section[int]{{Name: "l", Run: run}}},
		value.Int(int32(self)), 0, distsys.Options{Env: env.Env{Clock: frozen{}, Random: env.Seeded(uint64(self))}})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// attempts steps the instances in turn until each of them waits or is
// finished, and returns how many steps that took; 1000 is as good as forever.
func attempts(ins ...*distsys.Instance[int]) int {
	steps := 0
	for running := true; running && steps < 1000; {
		running = false
		for _, in := range ins {
			before := in.Metrics()
			status := in.Step()
			if status == distsys.Running || in.Metrics() != before {
				running = true
				steps++
			}
		}
	}
	return steps
}

// peer is a resource that waits at pre-commit until it is given an answer.
type peer struct {
	local.Dummy
	answer error
	tx     *distsys.Tx
}

func (p *peer) PreCommit(tx *distsys.Tx) error {
	p.tx = tx
	return p.answer
}

func increment(ref distsys.Ref) section {
	return func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		v, err := distsys.Read(tx, ref, distsys.Int())
		if err != nil {
			return 0, err
		}
		return distsys.Done, distsys.Write(tx, ref, distsys.Int(), v+1)
	}
}

// TestRefusedSectionsSleep: while a section that has read a variable waits for
// its peer, others that want to write the variable try a few times and then
// sleep, whether there is one of them or several; when it is free, they go on.
func TestRefusedSectionsSleep(t *testing.T) {
	for _, writers := range []int{1, 2, 3, 5} {
		x := local.NewShared(value.Int(0))
		p := &peer{answer: distsys.ErrPending}
		rx, rp := distsys.NewRef("x", x), distsys.NewRef("p", p)
		holder := still(t, 0, func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
			if _, err := distsys.Read(tx, rx, distsys.Int()); err != nil {
				return 0, err
			}
			return distsys.Done, tx.Write(rp, value.Int(1))
		})
		attempts(holder)
		var ins []*distsys.Instance[int]
		for i := range writers {
			ins = append(ins, still(t, i+1, increment(rx)))
		}
		if n := attempts(ins...); n > 5*writers {
			t.Errorf("%d writers: %d attempts while the variable is held", writers, n)
		}
		p.answer = nil
		p.tx.Answered().Wake()
		attempts(append(ins, holder)...)
		if got := x.Value().AsInt(); got != int32(writers) {
			t.Errorf("%d writers: the variable is %d after it was free", writers, got)
		}
	}
}

// TestSectionsThatGiveUpSleep: sections that lock a variable, or take a place
// in a queue, and are blocked elsewhere do not wake themselves or each other
// by giving up.
func TestSectionsThatGiveUpSleep(t *testing.T) {
	full := queue.New(queue.Limits{Messages: 1})
	full.Force(queue.Message{Value: value.Int(0)})
	noRoom := distsys.NewRef("full", &late{Resource: full.Out()})
	for name, first := range map[string]distsys.Resource{
		"a variable": local.NewShared(value.Int(0)),
		"a queue":    queue.New(queue.Limits{}).Out(),
		"both ends":  queue.New(queue.Limits{}).Both(),
	} {
		for _, n := range []int{1, 2, 4} {
			ref := distsys.NewRef("first", first)
			var ins []*distsys.Instance[int]
			for i := range n {
				ins = append(ins, still(t, i, func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
					if err := tx.Write(ref, value.Int(1)); err != nil {
						return 0, err
					}
					return distsys.Done, tx.Write(noRoom, value.Int(1))
				}))
			}
			if got := attempts(ins...); got > 10*n {
				t.Errorf("%s, %d sections: %d attempts", name, n, got)
			}
			for _, in := range ins {
				in.Close()
			}
		}
	}
}

// late is a resource that finds out at pre-commit only that it cannot go on.
type late struct{ distsys.Resource }

func (l *late) Write(*distsys.Tx, []value.Value, value.Value) error { return nil }
func (l *late) PreCommit(*distsys.Tx) error                         { return distsys.ErrBlocked }
