// SPDX-License-Identifier: Apache-2.0

package queue_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/tla/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func instance[S any](t testing.TB, self int, s S, run func(s *S, tx *distsys.Tx) (distsys.Label, error)) *distsys.Instance[S] {
	t.Helper()
	in, err := distsys.New(&distsys.Archetype[S]{Name: "A", Sections: []distsys.Section[S]{{Name: "l", Run: run}}},
		value.Int(int32(self)), s, distsys.Options{Env: osenv.New()})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// TestManyToMany: several writers of two messages a section, several readers
// of one, a small queue; everything arrives once, pairs stay together in the
// queue's order.
func TestManyToMany(t *testing.T) {
	const writers, readers, sections = 3, 2, 300
	q := queue.New(queue.Limits{Messages: 5})
	in, out := distsys.NewRef("in", q.In()), distsys.NewRef("out", q.Out())
	total := local.NewShared(value.Tuple())
	rt := distsys.NewRef("total", total)
	var procs []distsys.Process
	for w := range writers {
		procs = append(procs, instance(t, w, 0, func(n *int, tx *distsys.Tx) (distsys.Label, error) {
			if *n == sections {
				return distsys.Done, nil
			}
			*n++
			for part := range int32(2) {
				if err := tx.Write(out, value.Tuple(value.Int(int32(w)), value.Int(int32(*n)), value.Int(part))); err != nil {
					return 0, err
				}
			}
			return 0, nil
		}))
	}
	for r := range readers {
		procs = append(procs, instance(t, 10+r, 0, func(n *int, tx *distsys.Tx) (distsys.Label, error) {
			got, err := tx.Read(rt)
			if err != nil {
				return 0, err
			}
			if got.Len() == writers*sections*2 {
				return distsys.Done, nil
			}
			v, err := tx.Read(in)
			if err != nil {
				return 0, err
			}
			return 0, tx.Write(rt, value.Append(got, v))
		}))
	}
	if err := distsys.Run(within(t), procs...); err != nil {
		t.Fatal(err)
	}
	// A reader takes the lock on total before it reads, so total is in the
	// order of the queue.
	got := total.Value()
	last := map[int32]int32{}
	for i := 1; i <= got.Len(); i += 2 {
		a, b := got.Index(i), got.Index(i+1)
		w, n := a.Index(1).AsInt(), a.Index(2).AsInt()
		if n != last[w]+1 || a.Index(3).AsInt() != 0 {
			t.Fatalf("message %d is %s; the last of its writer was %d", i, a, last[w])
		}
		if b.Index(1).AsInt() != w || b.Index(2).AsInt() != n || b.Index(3).AsInt() != 1 {
			t.Fatalf("message %d is %s, behind %s", i+1, b, a)
		}
		last[w] = n
	}
	if got.Len() != writers*sections*2 || q.Len() != 0 {
		t.Errorf("%d messages arrived, %d left", got.Len(), q.Len())
	}
}

// TestAnUndecidedPlaceHoldsBack: a message after an undecided place cannot be
// read before that place is decided.
func TestAnUndecidedPlaceHoldsBack(t *testing.T) {
	for _, decision := range []string{"ready", "drop"} {
		t.Run(decision, func(t *testing.T) {
			q := queue.New(queue.Limits{Messages: 2})
			first, _ := q.Stage(true, queue.Message{Value: value.Int(1)})
			if _, outcome := q.Stage(false, queue.Message{Value: value.Int(2)}); outcome != queue.Busy {
				t.Fatalf("a section with other places was let in behind an undecided one: %v", outcome)
			}
			second, _ := q.Stage(true, queue.Message{Value: value.Int(2)})
			if _, outcome := q.Stage(true, queue.Message{Value: value.Int(3)}); outcome != queue.Full {
				t.Fatalf("a third message in a queue of two: %v", outcome)
			}
			q.Ready(second)
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
			defer cancel()
			if v, err := q.Receive(ctx); err == nil {
				t.Fatalf("received %s", v)
			}
			want := int32(1)
			if decision == "ready" {
				q.Ready(first)
			} else {
				q.Drop(first)
				want = 2
			}
			if v, err := q.Receive(within(t)); err != nil || v.AsInt() != want {
				t.Errorf("received %s, %v; want %d", v, err, want)
			}
		})
	}
}

// TestAbortGivesBack: a section that reads and then blocks leaves the messages
// where they were.
func TestAbortGivesBack(t *testing.T) {
	q := queue.New(queue.Limits{})
	gate := local.NewShared(value.Bool(false))
	in, rg := distsys.NewRef("in", q.In()), distsys.NewRef("gate", gate)
	for i := range int32(3) {
		if err := q.Send(within(t), value.Int(i)); err != nil {
			t.Fatal(err)
		}
	}
	reader := instance(t, 1, [2]int32{}, func(s *[2]int32, tx *distsys.Tx) (distsys.Label, error) {
		for i := range s {
			v, err := distsys.Read(tx, in, distsys.Int())
			if err != nil {
				return 0, err
			}
			s[i] = v
		}
		open, err := distsys.Read(tx, rg, distsys.Bool())
		if err != nil {
			return 0, err
		}
		if !open {
			return distsys.Blocked()
		}
		return distsys.Done, nil
	})
	for reader.Step() == distsys.Running {
	}
	if q.Len() != 3 {
		t.Fatalf("%d messages left after an aborted read", q.Len())
	}
	opener := instance(t, 2, 0, func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		return distsys.Done, tx.Write(rg, value.Bool(true))
	})
	if err := distsys.Run(within(t), opener, reader); err != nil {
		t.Fatal(err)
	}
	if reader.State() != [2]int32{0, 1} || q.Len() != 1 {
		t.Errorf("read %v, %d left", reader.State(), q.Len())
	}
}

// TestLength: the length counts what can be read, the section's own reads
// taken off, and holds until the section commits.
func TestLength(t *testing.T) {
	q := queue.New(queue.Limits{})
	in, out, length := distsys.NewRef("in", q.In()), distsys.NewRef("out", q.Out()), distsys.NewRef("len", q.Length())
	for i := range int32(3) {
		if err := q.Send(within(t), value.Int(i)); err != nil {
			t.Fatal(err)
		}
	}
	var interfere bool
	in1 := instance(t, 1, [2]int32{}, func(s *[2]int32, tx *distsys.Tx) (distsys.Label, error) {
		for i := range s {
			n, err := distsys.Read(tx, length, distsys.Int())
			if err != nil {
				return 0, err
			}
			s[i] = n
			if i == 0 {
				if _, err := tx.Read(in); err != nil {
					return 0, err
				}
			}
		}
		if interfere {
			interfere = false
			q.Force(queue.Message{Value: value.Int(9)})
		}
		// Its own write does not make the length it has seen wrong.
		return distsys.Done, tx.Write(out, value.Int(7))
	})
	if err := in1.Run(within(t)); err != nil {
		t.Fatal(err)
	}
	if in1.State() != [2]int32{3, 2} || q.Len() != 3 {
		t.Errorf("lengths %v, then %d", in1.State(), q.Len())
	}
	if m := in1.Metrics(); m.Aborts != 0 {
		t.Errorf("%d aborts without interference", m.Aborts)
	}
	in1.Reset()
	interfere = true
	if err := in1.Run(within(t)); err != nil {
		t.Fatal(err)
	}
	if in1.State() != [2]int32{4, 3} {
		t.Errorf("lengths %v after interference, want [4 3]", in1.State())
	}
	if m := in1.Metrics(); m.Aborts != 1 {
		t.Errorf("%d aborts with one interference", m.Aborts)
	}
}

func TestBytesAreBounded(t *testing.T) {
	q := queue.New(queue.Limits{Messages: 10, Bytes: 100})
	big := queue.Message{Value: value.Int(1), Size: 150}
	if _, outcome := q.Stage(true, big); outcome != queue.Staged {
		t.Error("a large message does not fit into an empty queue")
	}
	if _, outcome := q.Stage(true, queue.Message{Value: value.Int(2), Size: 1}); outcome != queue.Full || q.Room(1, 1) {
		t.Error("there is room behind a message over the limit")
	}
}

// TestPumpAndDrain connect Go channels.
func TestPumpAndDrain(t *testing.T) {
	const count = 1000
	a, b := queue.New(queue.Limits{Messages: 3}), queue.New(queue.Limits{Messages: 3})
	ra, rb := distsys.NewRef("a", a.In()), distsys.NewRef("b", b.Out())
	copier := instance(t, 1, 0, func(n *int, tx *distsys.Tx) (distsys.Label, error) {
		if *n == count {
			return distsys.Done, nil
		}
		*n++
		v, err := tx.Read(ra)
		if err != nil {
			return 0, err
		}
		return 0, tx.Write(rb, v)
	})
	ctx, cancel := context.WithCancel(within(t))
	from, to := make(chan value.Value), make(chan value.Value)
	done := make(chan error, 3)
	go func() { done <- a.Pump(ctx, from) }()
	go func() { done <- b.Drain(ctx, to) }()
	go func() { done <- copier.Run(ctx) }()
	go func() {
		for i := range int32(count) {
			from <- value.Int(i)
		}
		close(from)
	}()
	for i := range int32(count) {
		if v := <-to; v.AsInt() != i {
			t.Fatalf("got %s, want %d", v, i)
		}
	}
	cancel()
	for range 3 {
		<-done
	}
}

func TestEndsHaveOneDirection(t *testing.T) {
	q := queue.New(queue.Limits{})
	in, out := distsys.NewRef("in", q.In()), distsys.NewRef("out", q.Out())
	if err := instance(t, 1, 0, func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		return distsys.Done, tx.Write(in, value.Int(1))
	}).Run(within(t)); err == nil {
		t.Error("the reading end was written to")
	}
	if err := instance(t, 1, 0, func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		_, err := tx.Read(out)
		return distsys.Done, err
	}).Run(within(t)); err == nil {
		t.Error("the writing end was read")
	}
}

// TestDistinct compares a queue of distinct messages with a set: messages come,
// also while a section is in progress, some of them as those of strict senders,
// which go on when they have places; sections read one or two and commit or abort.
// All at random.
func TestDistinct(t *testing.T) {
	type offer struct {
		places []*queue.Place
		commit bool
	}
	r := env.Seeded(3)
	absorbed, undecided, again := 0, 0, 0
	for range 200 {
		q := queue.New(queue.Limits{Distinct: true})
		set := map[int32]bool{} // with what the section in progress has read
		var read []int32
		var offers []offer
		arrive := func() {
			x := int32(env.IntN(r, 3))
			m := queue.Message{Value: value.Int(x)}
			if slices.Contains(read, x) {
				again++
			}
			if env.IntN(r, 2) == 0 {
				q.Force(m)
			} else {
				places, outcome := q.Stage(true, m)
				if outcome != queue.Staged {
					t.Fatalf("it got no place: %v", outcome)
				}
				undecided++
				commit := env.IntN(r, 3) > 0
				offers = append(offers, offer{places, commit})
				if !commit {
					return
				}
			}
			if set[x] {
				absorbed++
			}
			set[x] = true
		}
		decide := func() {
			if len(offers) == 0 || env.IntN(r, 3) == 0 {
				return
			}
			i := env.IntN(r, len(offers))
			if o := offers[i]; o.commit {
				q.Ready(o.places)
			} else {
				q.Drop(o.places)
			}
			offers = slices.Delete(offers, i, i+1)
		}
		in := instance(t, 1, 0, func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
			read = nil
			for range 1 + env.IntN(r, 2) {
				v, err := tx.Read(distsys.NewRef("q", q.In()))
				if err != nil {
					return 0, err
				}
				x := v.AsInt()
				if !set[x] || slices.Contains(read, x) {
					t.Fatalf("read %d, which is not in the set %v, or was read before: %d", x, set, read)
				}
				read = append(read, x)
				if env.IntN(r, 2) == 0 {
					arrive()
				}
				decide()
			}
			if env.IntN(r, 2) == 0 {
				return distsys.Blocked()
			}
			return 0, nil
		})
		in.Step() // it starts
		for range 60 {
			read = nil
			if q.Len() == 0 || env.IntN(r, 2) == 0 {
				arrive()
				continue
			}
			for commits := in.Metrics().Commits; in.Metrics().Commits == commits; {
				if read = nil; q.Len() == 0 {
					arrive()
				}
				decide()
				q.Force() // it may wait for a change
				in.Step()
			}
			for _, x := range read {
				delete(set, x)
			}
			if len(offers) == 0 && q.Len() != len(set) {
				t.Fatalf("the queue has %d messages, the set %v; read %d", q.Len(), set, read)
			}
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if absorbed < 100 || undecided < 100 || again < 100 {
		t.Errorf("%d messages were there already, %d were undecided, %d came again while they were read: the test is too weak", absorbed, undecided, again)
	}
}

// TestDistinctBehindAnUndecidedOne reads a message of which another sender has a
// place for one like it: that sender goes on, and its message must not be there
// when the first has been read. A sender that takes places elsewhere, too, has to
// be waited for.
func TestDistinctBehindAnUndecidedOne(t *testing.T) {
	for _, alone := range []bool{true, false} {
		for _, decision := range []string{"ready", "drop"} {
			t.Run(fmt.Sprintf("%v, %s", alone, decision), func(t *testing.T) {
				q := queue.New(queue.Limits{Distinct: true})
				q.Force(queue.Message{Value: value.Int(1)})
				second, _ := q.Stage(alone, queue.Message{Value: value.Int(1)})
				reader := instance(t, 1, 0, func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
					_, err := tx.Read(distsys.NewRef("in", q.In()))
					return distsys.Done, err
				})
				for reader.Step() == distsys.Running {
				}
				if (q.Len() == 1) != alone {
					t.Fatalf("%d messages while the second is undecided", q.Len())
				}
				if decision == "ready" {
					q.Ready(second)
				} else {
					q.Drop(second)
				}
				if err := reader.Run(within(t)); err != nil {
					t.Fatal(err)
				}
				if q.Len() != 0 {
					t.Errorf("%d messages left", q.Len())
				}
			})
		}
	}
}

// TestRepeatedMessagesHoldUpNobody has messages sent again and again while a
// section reads them: it commits at its first attempt, and has heard of all who
// were there before it.
func TestRepeatedMessagesHoldUpNobody(t *testing.T) {
	q := queue.New(queue.Limits{Distinct: true})
	message := func(n uint64) queue.Message {
		return queue.Message{Value: value.Int(1), Clock: tracelog.Clock{}.With("sender", n)}
	}
	q.Force(message(1))
	var offered []*queue.Place
	var events recorder
	reader, err := distsys.New(&distsys.Archetype[int]{Name: "A", Sections: []distsys.Section[int]{{Name: "l", Run: func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		_, err := tx.Read(distsys.NewRef("in", q.In()))
		q.Force(message(2))
		if _, outcome := q.Stage(false, message(4)); outcome != queue.Busy {
			t.Errorf("one whose section takes places elsewhere, too: %v, want Busy", outcome)
		}
		places, _ := q.Stage(true, message(3))
		offered = append(offered, places...)
		return distsys.Done, err
	}}}}, value.Int(1), 0, distsys.Options{Env: osenv.New(), Recorder: &events})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		reader.Step()
	}
	if m := reader.Metrics(); m.Commits != 2 || m.Blocked+m.Aborts != 0 {
		t.Fatalf("%+v, want a start, a section, and no other attempt", m)
	}
	if n := events.last.Clock.Of("sender"); n != 2 {
		t.Errorf("the section has seen %d sections of the sender", n)
	}
	q.Ready(offered)
	if q.Len() != 0 {
		t.Errorf("%d messages left", q.Len())
	}
}

// TestPlacesAreTakenLast writes to a queue and then touches something else: that
// pre-commits first, because a section with a place must have all its locks.
func TestPlacesAreTakenLast(t *testing.T) {
	q := queue.New(queue.Limits{})
	lock := distsys.NewRef("lock", early{local.NewVariable(value.Int(0)), func() {
		if q.Len() > 0 {
			t.Error("the section took its place before it pre-committed elsewhere")
		}
	}})
	if err := instance(t, 1, 0, func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		if err := tx.Write(distsys.NewRef("q", q.Both()), value.Int(1)); err != nil {
			return 0, err
		}
		_, err := tx.Read(lock)
		return distsys.Done, err
	}).Run(within(t)); err != nil {
		t.Fatal(err)
	}
	if q.Len() != 1 {
		t.Errorf("%d messages", q.Len())
	}
}

// recorder keeps the last event.
type recorder struct{ last tracelog.Event }

func (r *recorder) Record(e *tracelog.Event) error {
	r.last = *e
	return nil
}

// early is a resource that does something when the section pre-commits.
type early struct {
	distsys.Resource
	do func()
}

func (e early) PreCommit(tx *distsys.Tx) error {
	e.do()
	return e.Resource.PreCommit(tx)
}

// last does so after the queue.
type last struct{ early }

// Queues implements distsys.Queued.
func (last) Queues(*distsys.Tx) bool { return true }

// TestDistinctIsHeld offers messages to a section that has read one like them and
// is about to commit: they wait for it, and then they are new.
func TestDistinctIsHeld(t *testing.T) {
	q := queue.New(queue.Limits{Distinct: true})
	q.Force(queue.Message{Value: value.Int(1)})
	var outcomes []queue.Outcome
	ends := distsys.NewRef("last", last{early{local.NewVariable(value.Int(0)), func() {
		for i := range int32(2) {
			places, outcome := q.Stage(true, queue.Message{Value: value.Int(1 + i)})
			outcomes = append(outcomes, outcome)
			q.Drop(places)
		}
	}}})
	reader := instance(t, 1, 0, func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		if _, err := tx.Read(distsys.NewRef("q", q.Both())); err != nil {
			return 0, err
		}
		// What it sends back itself is as good as a new one.
		if err := tx.Write(distsys.NewRef("q", q.Both()), value.Int(1)); err != nil {
			return 0, err
		}
		_, err := tx.Read(ends)
		return distsys.Done, err
	})
	if err := reader.Run(within(t)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(outcomes, []queue.Outcome{queue.Busy, queue.Staged}) {
		t.Errorf("the outcomes of a message like the one that was read, and of another: %v", outcomes)
	}
	if _, outcome := q.Stage(true, queue.Message{Value: value.Int(1)}); outcome != queue.Staged || q.Len() != 2 {
		t.Errorf("afterwards: %v, %d messages", outcome, q.Len())
	}
}

// TestNoEncoding writes a value that has no encoding to a queue that needs one: the
// section fails, and nothing else does.
func TestNoEncoding(t *testing.T) {
	deep := value.Int(1)
	for range value.WireDepthMax + 10 {
		deep = value.Tuple(deep)
	}
	q := queue.New(queue.Limits{Distinct: true})
	if err := instance(t, 1, 0, func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		return distsys.Done, tx.Write(distsys.NewRef("q", q.Both()), deep)
	}).Run(within(t)); err == nil {
		t.Error("a section wrote it")
	}
	if err := q.Send(within(t), deep); err == nil {
		t.Error("it was sent from outside")
	}
	if q.Len() != 0 {
		t.Errorf("%d messages", q.Len())
	}
}
