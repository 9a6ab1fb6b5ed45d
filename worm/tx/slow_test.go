// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
)

// TestSlowMachines ends one server after another, and starts it again, in worlds where
// each message takes at least a hundred times as long as between healthy machines, with
// the time limits of production. Keys are served again within a bound, also those of
// several partitions together, and no partition moves back and forth: a takeover that
// takes longer than the others' patience is no reason for another one.
func TestSlowMachines(t *testing.T) {
	for _, delay := range []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond} {
		if testing.Short() && delay != 200*time.Millisecond {
			continue
		}
		t.Run(delay.String(), func(t *testing.T) {
			s := newSlow(t, delay)
			s.all(10*time.Second + 60*delay)
			for i := range s.c.servers {
				before := maps.Clone(s.opened)
				s.c.kill(i)
				s.all(10*time.Second + 150*delay)
				s.c.restart(i)
				s.all(10*time.Second + 60*delay)
				s.c.w.Run(10*time.Second + 20*delay)
				for rm := range RM(slowPartitions) {
					if n := s.opened[rm] - before[rm]; n > 3 {
						t.Errorf("partition %d was taken over %d times when server %d died and came back", rm, n, i)
					}
				}
			}
		})
	}
}

const slowPartitions = 8

// slow is a store on slow machines.
type slow struct {
	t       *testing.T
	c       *cluster
	client  *Client
	written int64
	opened  map[RM]int // how often each partition was opened at any server
}

func newSlow(t *testing.T, delay time.Duration) *slow {
	const servers = 3
	w := ideal.New(ideal.Options{Seed: 1, DelayMin: delay / 2, DelayMax: 3 * delay / 2})
	s := &slow{t: t, opened: map[RM]int{}, c: &cluster{t: t, w: w, parts: slowPartitions, outcomes: map[ID]bool{},
		opt: KVOptions{Engine: Options{Instance: 1, Partitions: 2}}}}
	s.c.log = func(_ int, e env.Event) {
		if o, ok := e.(Owned); ok {
			s.opened[o.RM]++
		}
	}
	for i := range servers {
		p := w.Start(fmt.Sprint("s", i))
		s.c.servers, s.c.members = append(s.c.servers, &server{p: p}), append(s.c.members, p.Member)
	}
	for i := range servers {
		s.c.boot(i)
	}
	_, s.client = s.c.client("client")
	return s
}

// all writes a key of each partition, one by one, and then keys of three of them at once.
func (s *slow) all(bound time.Duration) {
	s.t.Helper()
	began, done := s.c.w.Now(), 0
	s.written++
	write := func(name string, rms ...RM) {
		q := &Request{}
		for _, rm := range rms {
			q.Ops = append(q.Ops, incr(keyIn(rm, slowPartitions, name), 1))
		}
		s.client.Do(q, bound, func(r *Result, err error) {
			if done++; err != nil {
				s.t.Fatalf("partitions %v after %v: %v", rms, s.c.w.Now().Sub(began), err)
			}
			for i := range r.Ops {
				if got := r.Ops[i].Number; got != s.written {
					s.t.Fatalf("partitions %v count %d, want %d", rms, got, s.written)
				}
			}
		})
	}
	wait := func(n int) {
		if !s.c.w.RunUntil(bound+time.Second, func() bool { return done == n }) {
			s.t.Fatalf("%d of %d requests are answered after %v", done, n, s.c.w.Now().Sub(began))
		}
	}
	for rm := range RM(slowPartitions) {
		write("single", rm)
	}
	wait(slowPartitions)
	took := s.c.w.Now().Sub(began)
	write("several", 0, 1, 2)
	wait(slowPartitions + 1)
	s.t.Logf("%v, and %v for three partitions together", took, s.c.w.Now().Sub(began)-took)
}
