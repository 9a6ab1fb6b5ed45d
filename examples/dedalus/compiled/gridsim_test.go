// SPDX-License-Identifier: Apache-2.0

package compiled_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/client"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/examples/dedalus/keys"
	"github.com/ashlar-dev/ashlar/internal/dedalus/deploy"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/sim/suite"
)

// gridRun is what is known of a run of Compartmentalized Paxos from outside: its replicas
// keep the store and answer.
type gridRun struct {
	x        *cluster
	history  []porcupine.Operation
	slots    map[uint64]uint64 // commands that were applied
	answered int
	stop     bool
}

// client is a client with a store of keys.
func (r *gridRun) client(number int) {
	name := fmt.Sprint("c", number)
	w, p := r.x.w, r.x.program
	reply, leader, propose := relation(p, "reply"), relation(p, "leader"), relation(p, "propose")
	w.Node(name, func(l *sim.Life) error {
		random := l.Env.Random.Split("work")
		var c *client.Caller
		c, err := r.x.dial(l, name, func(rel int, row []rt.Value) (string, bool) {
			if rel == leader {
				c.Prefer(row[1].Str)
			}
			return fmt.Sprint(row[0].Num), rel == reply
		}, func(int, []rt.Value) {})
		if err != nil {
			return err
		}
		n := uint64(number+1)<<40 | uint64(l.Number())<<20
		var next func()
		next = func() {
			n++
			o := keys.Op{Key: fmt.Sprint("k", env.IntN(random, 2))}
			put := uint64(0)
			if env.IntN(random, 2) == 0 {
				o.Value, put = fmt.Sprint("v", n)+long(random), 1
			}
			row, err := rt.AppendRow(nil, p.Relations[propose].Columns, []rt.Value{{Str: name}, {Num: n}, {Num: put}, {Str: o.Key}, {Str: o.Value}})
			i := len(r.history)
			r.history = append(r.history, porcupine.Operation{ClientId: number, Input: o, Call: int64(w.Now()), Return: math.MaxInt64})
			if err == nil {
				err = c.Call(fmt.Sprint(n), propose, row, func(_ string, rel int, out []byte) {
					values, err := rt.ReadRow(out, p.Relations[rel].Columns)
					if err != nil {
						w.Fail("outputs are rows", err)
						return
					}
					r.history[i].Output, r.history[i].Return = values[1].Str, int64(w.Now())
					r.answered++
					if !r.stop {
						l.Env.Clock.After(time.Duration(env.IntN(random, int(40*time.Millisecond))), env.WakeFunc(next))
					}
				})
			}
			if err != nil {
				w.Fail("calls are made", err)
			}
		}
		next()
		return nil
	})
}

// playGrid has clients propose commands: a slot has one command, clients see a
// linearizable store, and go on when the faults are over.
func playGrid(e program, d *deploy.Description) suite.Scenario {
	return func(w *sim.World) error {
		r := &gridRun{x: newCluster(w, e.compiled(), d), slots: map[uint64]uint64{}}
		for i := range 3 {
			r.client(i)
		}
		applied := relation(r.x.program, "applied")
		w.Node("log", func(l *sim.Life) error {
			_, err := r.x.dial(l, "log", func(int, []rt.Value) (string, bool) { return "", false }, func(rel int, row []rt.Value) {
				slot, id := row[0].Num, row[1].Num
				if was, ok := r.slots[slot]; rel == applied && ok && was != id {
					w.Fail("agreement", fmt.Errorf("slot %d has commands %d and %d", slot, was, id))
				}
				r.slots[slot] = id
			})
			return err
		})
		if err := w.Run(10 * time.Second); err != nil {
			return err
		}
		w.Heal()
		before := r.answered
		if err := w.RunUntil(60*time.Second, func() bool { return r.answered > before+30 }); err != nil {
			return err
		}
		r.stop = true
		w.Mark(env.Mark(fmt.Sprintf("answered %d hundred", r.answered/100)))
		return errors.Join(r.x.rejected(), judge(r.history))
	}
}

func TestCompPaxosSimulated(t *testing.T) {
	e, d := entry(t, "comppaxos")
	suite.Suite{Getenv: os.Getenv, Package: "./examples/dedalus/compiled", Short: testing.Short(), Seeds: 20,
		Faults: losing(), Require: []string{"dedalus/host checkpoint"}}.Run(t, playGrid(e, d))
}
