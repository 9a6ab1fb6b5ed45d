// SPDX-License-Identifier: Apache-2.0

package crashtest

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/goose/primitive/mem"
)

// Effort is how much Simulate does. The zero value is the default. Short tests do less.
type Effort struct {
	// Rounds is how often a client that runs alone is called in a life; 0 means 3. If
	// there are several clients, it is togetherRounds times as often.
	Rounds int
	// Losses is the number of random losses with which each crash is tried, besides
	// losing nothing and losing everything that can be lost. Zero means 1; a negative
	// number means that these devices cannot lose anything.
	Losses int
	// Workloads is the number of random runs of one client that are crashed at every
	// operation; 0 means 3.
	Workloads int
	// Seeds is the number of runs with several clients; 0 means 300.
	Seeds int
}

const togetherRounds = 4

func (e Effort) complete() Effort {
	if e.Rounds == 0 {
		e.Rounds = 3
	}
	switch {
	case e.Losses == 0:
		e.Losses = 1
	case e.Losses < 0:
		e.Losses = -1
	}
	if e.Workloads == 0 {
		e.Workloads = 3
	}
	if e.Seeds == 0 {
		e.Seeds = 300
	}
	if testing.Short() {
		e.Losses, e.Workloads, e.Seeds = min(e.Losses, 1), 1, min(e.Seeds, 30)
	}
	return e
}

// Report counts what a test has covered. A test that covered too little should
// fail: see Enough.
type Report struct {
	Runs, Lives, Events int
	InRecovery          int // crashes before the package was open
	Interrupted         int // operations that a crash interrupted
}

// Enough fails the test if it did not cover the cases that it exists for.
func (r Report) Enough(t testing.TB) {
	t.Helper()
	t.Logf("%d runs, %d lives, %d events, %d crashes in recovery, %d operations interrupted",
		r.Runs, r.Lives, r.Events, r.InRecovery, r.Interrupted)
	if r.Lives <= r.Runs || r.InRecovery == 0 || r.Interrupted == 0 {
		t.Error("this test saw too little to mean anything")
	}
}

// Add returns the sum of both reports.
func (r *Report) Add(s Report) {
	r.Runs += s.Runs
	r.Lives += s.Lives
	r.Events += s.Events
	r.InRecovery += s.InRecovery
	r.Interrupted += s.Interrupted
}

// loss is how the choices of a crash are made.
type loss int

const (
	latest loss = -2 // nothing is lost
	oldest loss = -1 // everything is lost that can be; from 0 on, a random seed decides
)

func (l loss) choose() mem.Choose {
	switch l {
	case latest:
		return func(int) int { return 0 }
	case oldest:
		return func(n int) int { return n - 1 }
	}
	r := env.Seeded(uint64(l))
	return func(n int) int { return env.IntN(r, n) }
}

// scenario determines a run with one client.
type scenario struct {
	clients, rounds int
	seed            uint64
	loss            loss
	limits          []int // before which operation each life crashes; one more life follows
}

// Simulate runs the system on devices in memory. First there is one client alone, and the
// machine crashes before each of its operations, and then before each operation of the
// recovery from that crash. Then there are several clients, and crashes at random
// moments.
func Simulate[S, Op, Ret any](t *testing.T, sys System[S, Op, Ret], effort Effort) Report {
	t.Helper()
	effort = effort.complete()
	var total Report
	losses := []loss{latest}
	if effort.Losses >= 0 {
		losses = append(losses, oldest)
		for i := range effort.Losses {
			losses = append(losses, loss(i))
		}
	}
	for _, l := range losses {
		for seed := range effort.Workloads {
			total.Add(enumerate(t, sys, effort, uint64(seed), l))
			if t.Failed() {
				return total
			}
		}
	}
	for seed := range effort.Seeds {
		r := env.Seeded(uint64(seed)).Split("limits")
		limits := make([]int, 1+env.IntN(r, 4))
		for i := range limits {
			limits[i] = 1 + env.IntN(r, 1<<(2+env.IntN(r, 8)))
		}
		s := scenario{clients: sys.Clients, rounds: togetherRounds * effort.Rounds, seed: uint64(seed), loss: loss(seed), limits: limits}
		report, _ := simulate(t, sys, s)
		total.Add(report)
		if t.Failed() {
			break
		}
	}
	return total
}

// enumerate crashes one client before each operation, and its recovery before each of its
// own.
func enumerate[S, Op, Ret any](t *testing.T, sys System[S, Op, Ret], effort Effort, seed uint64, l loss) Report {
	t.Helper()
	var total Report
	for first := 1; ; first++ {
		for second := 1; ; second++ {
			s := scenario{clients: 1, rounds: effort.Rounds, seed: seed, loss: l, limits: []int{first, second}}
			report, lives := simulate(t, sys, s)
			total.Add(report)
			if t.Failed() || lives[0].whole {
				return total
			}
			if lives[1].open {
				break // from here on the crashes of second are like those of first
			}
		}
	}
}

// lived is the result of a life.
type lived struct {
	open  bool // the recovery was finished
	whole bool // the clients were finished too
}

// simulate runs a scenario and checks its history.
func simulate[S, Op, Ret any](t *testing.T, sys System[S, Op, Ret], s scenario) (Report, []lived) {
	t.Helper()
	h := &history[Op, Ret]{}
	m := mem.NewMachine(s.loss.choose())
	start := sys.Build(m)
	report := Report{Runs: 1}
	var lives []lived
	for i := 0; i <= len(s.limits); i++ {
		limit := 0
		if i < len(s.limits) {
			limit = s.limits[i]
		}
		x := live(sys, s, h, m.Boot(limit), start)
		h.crash()
		lives = append(lives, x)
		report.Lives++
		if !x.open {
			report.InRecovery++
		}
	}
	if !lives[len(lives)-1].whole {
		t.Errorf("%s: %+v: the last life ended, and had no crash", sys.Name, s)
	}
	report.Events = len(h.events)
	report.Interrupted = interrupted(h.events)
	if _, err := CheckHistory(sys.Spec, h.events); err != nil {
		t.Errorf("%s: %+v: %v", sys.Name, s, err)
	}
	return report, lives
}

func interrupted[Op, Ret any](events []Event[Op, Ret]) int {
	n := 0
	for _, e := range events {
		switch e.Kind {
		case Call:
			n++
		case Return:
			n--
		case Crash:
		}
	}
	return n
}

// live runs one life to its end.
func live[S, Op, Ret any](sys System[S, Op, Ret], s scenario, h *history[Op, Ret], l *mem.Life, start func(*mem.Life) Do[Op, Ret]) lived {
	life := h.life
	write := func(e Event[Op, Ret]) { h.add(life, e) }
	x, do := opened(sys, l, start, write)
	if do == nil {
		return x
	}
	var wait sync.WaitGroup
	for client := range s.clients {
		r := env.Seeded(s.seed).Split(fmt.Sprint(life, ".", client))
		pause := r.Split("pause")
		do := watched(do, client, write)
		wait.Go(func() {
			for range s.rounds {
				sys.Client(r, client, func(op Op) Ret {
					for range env.IntN(pause, 3) {
						runtime.Gosched()
					}
					return do(op)
				})
			}
		})
	}
	// A goroutine that ends in a crash may have held a lock; another one that waits for
	// the lock waits forever, because it never reaches a device.
	done := make(chan struct{})
	go func() {
		wait.Wait()
		close(done)
	}()
	select {
	case <-done:
		select {
		case <-l.Over():
		default:
			x.whole = true
			l.Crash()
		}
	case <-l.Over():
		if s.clients == 1 {
			<-done
		}
	}
	return x
}

// opened opens the package and observes it. It returns nil if there is a crash
// before both are done.
func opened[S, Op, Ret any](sys System[S, Op, Ret], l *mem.Life, start func(*mem.Life) Do[Op, Ret], write func(Event[Op, Ret])) (x lived, ready Do[Op, Ret]) {
	var wait sync.WaitGroup
	wait.Go(func() { // a crash ends this goroutine
		do := start(l)
		x.open = true
		if sys.Observe != nil {
			sys.Observe(watched(do, 0, write))
		}
		ready = do
	})
	wait.Wait()
	return x, ready
}
