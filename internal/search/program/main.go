// SPDX-License-Identifier: Apache-2.0

package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// Job is a search to continue, with its options.
type Job struct {
	Info           check.Info
	Workers        int
	IgnoreDeadlock bool
	SafetyOnly     bool
	Continue       bool
	// Periodic says that the caller checks properties of behaviours: the program
	// reports when it is time, and the caller answers.
	Periodic  bool
	StatesMax int64
	// The numbers of predicates: of the constraints, the constraints of actions,
	// the invariants, the left sides of implications in these, and the parts of
	// Info.Steps about steps; -1 if there is none.
	Constraints, ActionConstraints, Invariants, Antecedents, StepNexts []int

	// Dir has the checkpoint. The files of the search are there too, and further
	// checkpoints: if Every is not 0, one after each such interval, and if First is
	// not 0, one when the program has searched for that long, for twice as long,
	// and so on. So if it gives up, less than half of its time is lost.
	Dir          string
	Identity     []check.IdentityPart
	Every, First time.Duration
	// Durable reports whether files must survive a failure of the machine.
	Durable bool
	// StatesBytes is check.Options.MemoryBytes. Beyond LimitBytes of memory, if it
	// is not 0, the search ends for the reason of Limit.
	StatesBytes, LimitBytes int64
	Limit                   string
}

// Message is a message of the program: one of these. The answer to Periodic is
// a check.PeriodicAnswer on the standard input.
type Message struct {
	Figures  *check.Figures
	Periodic *check.PeriodicQuery
	Answer   *Answer
}

// Answer is the result. If Stopped is set there is nothing else: the code met a
// state that it was not made for. The states of traces have no values.
type Answer struct {
	Stopped bool
	Result  *check.Result
	// Remarked reports that the following is known. Unmet reports for every antecedent whether it was true in no state.
	// Ors and Ands are the bits that some and all expanded states have.
	Remarked  bool
	Unmet     []bool
	Ors, Ands []uint64
}

// Late is closed when a search that should be checkpointed at the end of its segment,
// because ctx has ended, takes longer than SegmentWaitMax to get there.
func Late(ctx context.Context) <-chan struct{} {
	late := make(chan struct{})
	context.AfterFunc(ctx, func() { time.AfterFunc(SegmentWaitMax, func() { close(late) }) })
	return late
}

// SegmentWaitMax is how long a search that must end may take to reach a point
// where it can be checkpointed.
const SegmentWaitMax = 10 * time.Second

// tellEvery is the interval at which the program reports its progress.
const tellEvery = 250 * time.Millisecond

// Sizes are the sizes of states: in words, and in bytes when they are written.
// Key is the number of bytes of a state's key. If it is 0, states are their own
// keys; otherwise the machines are KeyMachines.
type Sizes struct{ Words, Bytes, Key int }

// Main is the program; machine makes a machine. It does not return after an
// error of the world.
func Main(sizes Sizes, machine func() Machine) {
	// The process that has started this one decides what an interrupt means, and closes
	// the standard input to end the search.
	signal.Ignore(os.Interrupt)
	if err := serve(os.Stdin, os.Stdout, &model{Sizes: sizes, machine: machine}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve reads a job and does it.
func serve(in io.Reader, out io.Writer, m *model) error {
	decoder := json.NewDecoder(in)
	if err := decoder.Decode(&m.job); err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	answers, gone := make(chan check.PeriodicAnswer), ctx.Done()
	go func() {
		for {
			var a check.PeriodicAnswer
			if err := decoder.Decode(&a); err != nil {
				cancel(err) // the process that asked has ended, or wants no answer any more
				return
			}
			select {
			case answers <- a:
			case <-gone:
				return
			}
		}
	}()
	ctx, release := Guard(ctx, m.job.LimitBytes, m.job.LimitBytes, m.job.Limit)
	defer release()
	disk, err := openFolder(m.job.Dir, m.job.Durable)
	if err != nil {
		return err
	}
	defer disk.close()
	encoder := &sender{to: json.NewEncoder(out)}
	monitor := new(check.Monitor)
	silence := tell(encoder, monitor)
	o := m.job.options(ctx, disk, monitor)
	if m.job.Periodic {
		o.Ask = func(at check.PeriodicQuery) (check.PeriodicAnswer, error) {
			if err := encoder.send(Message{Periodic: &at}); err != nil {
				return check.PeriodicAnswer{}, err
			}
			select {
			case a := <-answers:
				return a, nil
			case <-ctx.Done():
				return check.PeriodicAnswer{}, nil
			}
		}
	}
	r, err := check.Run(ctx, m, o)
	if told := silence(); told != nil {
		return told
	}
	answer := Answer{Result: r}
	switch {
	case errors.Is(err, errStopped):
		answer = Answer{Stopped: true}
	case err != nil:
		return err
	default:
		answer.Remarked = len(m.workers) > 0
		answer.Unmet, answer.Ors, answer.Ands = m.remarks(m.workers)
	}
	return encoder.send(Message{Answer: &answer})
}

func (j *Job) options(ctx context.Context, disk *folder, monitor *check.Monitor) check.Options {
	o := check.Options{Workers: j.Workers, SafetyOnly: j.SafetyOnly, IgnoreDeadlock: j.IgnoreDeadlock, Continue: j.Continue,
		StatesMax: j.StatesMax, Disk: disk, MemoryBytes: j.StatesBytes, Monitor: monitor,
		Checkpoint: &check.Checkpoint{Resume: true, Stay: true, Identity: j.Identity}}
	if j.Durable {
		o.Checkpoint.Last, o.Checkpoint.Late = true, Late(ctx)
	}
	start := time.Now()
	o.Checkpoint.Due = j.due(func() time.Duration { return time.Since(start) })
	return o
}

// due returns the times at which to write checkpoints, nil for never; clock
// returns how long the program has searched.
func (j *Job) due(clock func() time.Duration) func() bool {
	if j.Every <= 0 && j.First <= 0 {
		return nil
	}
	last, next := time.Duration(0), j.First
	return func() bool {
		now := clock()
		if (j.Every <= 0 || now-last < j.Every) && (j.First <= 0 || now < next) {
			return false
		}
		last, next = now, max(next, 2*now)
		return true
	}
}

// sender writes messages for several goroutines.
type sender struct {
	mu sync.Mutex
	to *json.Encoder
}

func (s *sender) send(m Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.to.Encode(m)
}

// tell reports the progress from time to time until the returned function is
// called; that function returns the first error of reporting.
func tell(to *sender, m *check.Monitor) (silence func() error) {
	stop := make(chan struct{})
	var told error
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(tellEvery)
		defer tick.Stop()
		for told == nil {
			select {
			case <-tick.C:
				f := m.Figures()
				told = to.send(Message{Figures: &f})
			case <-stop:
				return
			}
		}
	})
	return func() error {
		close(stop)
		done.Wait()
		return told
	}
}
