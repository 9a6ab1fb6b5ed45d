// SPDX-License-Identifier: Apache-2.0

package ideal_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

type op struct {
	kind  string
	value string
	err   error
}

// model is wor.Register. An operation whose outcome is unknown may take effect at any
// later time, or never: then it counts as the last one.
var model = porcupine.Model{
	Partition: func(h []porcupine.Operation) [][]porcupine.Operation {
		byAddr := map[wor.Addr][]porcupine.Operation{}
		for _, o := range h {
			a := o.Input.(wor.Addr)
			byAddr[a] = append(byAddr[a], o)
		}
		var out [][]porcupine.Operation
		for _, l := range byAddr {
			out = append(out, l)
		}
		return out
	},
	Init: func() any { return wor.Register{} },
	Step: func(state, input, output any) (bool, any) {
		r, o := state.(wor.Register), output.(op)
		switch {
		case o.kind == "read":
			return r.Read(o.value, o.err), r
		case errors.Is(o.err, wor.ErrUnknown):
			if next, ok := r.Write(o.value, nil); ok {
				return true, next
			}
			return true, r
		}
		next, ok := r.Write(o.value, o.err)
		return ok, next
	},
}

// TestLinearizable runs writers and readers against the adversary.
func TestLinearizable(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(400) {
		w := ideal.New(ideal.Options{Seed: seed, Late: .1, Lose: .1, Half: .3, Double: .2})
		first := w.Start("first")
		first.Space.Alloc(1, wor.Meta{Owner: 1, Size: 3}, 0, func(_ wor.Meta, err error) {
			if err != nil {
				t.Fatal(err)
			}
		})
		w.Run(time.Second)
		var history []porcupine.Operation
		record := func(client int, a wor.Addr) func(op) {
			i := len(history)
			history = append(history, porcupine.Operation{ClientId: client, Input: a, Call: int64(w.Now()), Return: math.MaxInt64,
				Output: op{kind: "write", err: wor.ErrUnknown}})
			return func(o op) {
				history[i].Output = o
				if !errors.Is(o.err, wor.ErrUnknown) {
					history[i].Return = int64(w.Now())
				}
				seen[fmt.Sprint(o.kind, " ", cause(o.err))]++
			}
		}
		for client := range 4 {
			p := w.Start(fmt.Sprint("client", client))
			r := p.Env.Random
			var next func()
			n := 0
			next = func() {
				if n++; n > 8 {
					return
				}
				a := wor.Addr{Segment: 1, Offset: uint32(r.Uint64() % 3)}
				value := fmt.Sprint(client, ".", n)
				within := time.Duration(r.Uint64()%3) * 2 * time.Millisecond
				switch r.Uint64() % 4 {
				case 0:
					end := record(client, a)
					p.Space.Propose(a, []byte(value), within, func(err error) { end(op{"write", value, err}); next() })
				case 1, 2:
					end := record(client, a)
					call := len(history) - 1
					p.Space.Read(a, within, func(v []byte, err error) {
						if errors.Is(err, wor.ErrDeadline) {
							history[call].Return = -1
						} else {
							end(op{"read", string(v), err})
						}
						next()
					})
				case 3:
					p.Space.Capture(wor.One(a), within, func(tok *wor.Token, err error) {
						if err != nil {
							next()
							return
						}
						end := record(client, a)
						p.Space.Write(tok, a.Offset, []byte(value), within, func(err error) { end(op{"write", value, err}); next() })
					})
				}
			}
			next()
		}
		w.Run(10 * time.Second)
		kept := history[:0]
		for _, o := range history {
			if o.Return != -1 {
				if errors.Is(o.Output.(op).err, wor.ErrUnknown) && o.Output.(op).value == "" {
					t.Fatalf("seed %d: an operation never answered", seed)
				}
				kept = append(kept, o)
			}
		}
		if !porcupine.CheckOperations(model, kept) {
			t.Fatalf("seed %d: not linearizable: %+v", seed, kept)
		}
	}
	for _, want := range []string{"write <nil>", "write register is written", "write deadline exceeded",
		"write another client captured the register", "read <nil>", "read register is unwritten"} {
		if seen[want] == 0 {
			t.Errorf("never seen: %s (seen: %v)", want, seen)
		}
	}
}

func cause(err error) error {
	if u := (*wor.UnknownError)(nil); errors.As(err, &u) {
		return u.Cause
	}
	if errors.Is(err, wor.ErrWritten) {
		return wor.ErrWritten
	}
	return err
}

// TestDelays counts messages, each of which takes one unit of time.
func TestDelays(t *testing.T) {
	const unit = time.Millisecond
	w := ideal.New(ideal.Options{Fixed: unit})
	p, q := w.Start("p"), w.Start("q")
	start := w.Now()
	units := func() int { return int(w.Now().Sub(start) / unit) }
	got := map[string]int{}
	p.Space.Alloc(1, wor.Meta{Owner: 1, Size: 10}, 0, func(wor.Meta, error) {
		got["alloc"] = units()
		q.Space.Listen(wor.Range{Segment: 1, Lo: 0, Hi: 10}, func(c wor.Cell) { got["note"] = units() })
		start = w.Now()
		p.Space.Capture(wor.Range{Segment: 1, Lo: 0, Hi: 10}, 0, func(tok *wor.Token, _ error) {
			got["capture"] = units()
			start = w.Now()
			p.Space.Write(tok, 3, []byte("x"), 0, func(error) { got["write"] = units() })
		})
	})
	w.Run(time.Second)
	for what, want := range map[string]int{"alloc": 4, "capture": 2, "write": 2, "note": 2} {
		if got[what] != want {
			t.Errorf("%s takes %d messages, want %d", what, got[what], want)
		}
	}
}

func TestKilledProcessIsSilent(t *testing.T) {
	w := ideal.New(ideal.Options{})
	p := w.Start("p")
	p.Space.Alloc(1, wor.Meta{Owner: 1, Size: 10}, 0, func(wor.Meta, error) { t.Error("a dead process was answered") })
	p.Env.Clock.After(time.Millisecond, p.Serial.Waker(func() { t.Error("a dead process's timer ran") }))
	p.Kill()
	w.Run(time.Second)
	again := w.Start("p")
	if again.Member != p.Member {
		t.Error("a process that comes back is another member")
	}
	if again.Space.Nonce() == p.Space.Nonce() {
		t.Error("a process that comes back has its old nonce")
	}
}

func TestTrimAndMessages(t *testing.T) {
	w := ideal.New(ideal.Options{Seed: 3})
	p, q := w.Start("p"), w.Start("q")
	q.Serve(wor.ServiceKV, func(b []byte, answer func([]byte)) { answer(append(b, '!')) })
	var got []string
	say := func(what string, err error) { got = append(got, fmt.Sprint(what, ": ", err)) }
	p.Messenger.Invoke(q.Member, wor.ServiceKV, []byte("hi"), 0, func(b []byte, err error) { say(string(b), err) })
	p.Messenger.Invoke(wor.Member{ID: 9}, wor.ServiceKV, nil, 0, func(_ []byte, err error) { say("nobody", err) })
	w.Run(10 * time.Second)
	p.Space.Trim(7, 0, func(err error) {
		say("trim", err)
		p.Space.Alloc(7, wor.Meta{Owner: 1, Size: 1}, 0, func(_ wor.Meta, err error) {
			say("alloc", err)
			q.Space.Listen(wor.Range{Segment: 7, Lo: 0, Hi: 1}, func(c wor.Cell) { say("listen", c.Err) })
			p.After(time.Second, func() {
				p.Space.Trim(7, 0, func(err error) {
					say("trim", err)
					p.Space.Read(wor.Addr{Segment: 7}, 0, func(_ []byte, err error) { say("read", err) })
				})
			})
		})
	})
	w.Run(10 * time.Second)
	want := []string{"hi!: <nil>", "nobody: outcome is unknown", "trim: segment is not allocated", "alloc: <nil>",
		"listen: segment is trimmed", "trim: <nil>", "read: segment is trimmed"}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}
