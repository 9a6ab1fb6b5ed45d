// Package native runs a search in a process of its own, with code that was made
// for one model (tla/pack.Source) and compiled.
//
// In: a Job on the standard input: what the search asks for, and the packed
// initial states. Out: an Answer on the standard output. The program searches
// with package check, so it finds what the checker finds in its own process. It
// promises nothing beyond that: where its code meets a state that it was not
// made for, it says so and ends, and the one who asked searches without it.
package native

import (
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"os"

	"github.com/ashlar-dev/ashlar/check"
)

// Machine is the compiled code. Its methods are those of pack.Machine.
type Machine interface {
	Start(emit func(action int) bool)
	Run(cur []uint64) (whole bool)
	Words() []uint64
	Holds(i int, cur, nxt []uint64) (holds, ok bool)
}

// Job is what is to be searched, and how.
type Job struct {
	Info           check.Info
	Workers        int
	IgnoreDeadlock bool
	StatesMax      int64
	// Initial are all initial states, in their order, duplicates included.
	Initial [][]byte
	// The numbers of predicates: of the constraints, the constraints of actions,
	// the invariants, and the left sides of implications in these.
	Constraints, ActionConstraints, Invariants, Antecedents []int
}

// Answer is what was found. Where Stopped is set there is nothing else: the
// code met what it was not made for.
type Answer struct {
	Stopped bool
	Result  *check.Result
	// Remarked says that the following is known. Unmet says of every antecedent whether it was true in no state. Ors and Ands
	// are the bits that some and all expanded states have.
	Remarked  bool
	Unmet     []bool
	Ors, Ands []uint64
}

// errStopped ends a search whose code stopped.
var errStopped = errors.New("native: the code met a state that it was not made for")

// Main is the program: words and bytes are the size of a state, and machine
// makes a machine. It does not return where something is wrong with the world.
func Main(words, bytes int, machine func() Machine) {
	var job Job
	if err := gob.NewDecoder(os.Stdin).Decode(&job); err != nil {
		fail(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { // the one who asked is gone, or does not want to know any more
		defer cancel()
		_, _ = os.Stdin.Read(make([]byte, 1))
	}()
	m := &model{job: job, words: words, bytes: bytes, machine: machine}
	r, err := check.Run(ctx, m, check.Options{Workers: job.Workers, SafetyOnly: true, IgnoreDeadlock: job.IgnoreDeadlock,
		StatesMax: job.StatesMax})
	answer := Answer{Result: r}
	switch {
	case errors.Is(err, errStopped):
		answer = Answer{Stopped: true}
	case err != nil:
		fail(err)
	default:
		answer.Remarked = len(m.workers) > 0
		answer.Unmet, answer.Ors, answer.Ands = m.remarks()
	}
	if err := gob.NewEncoder(os.Stdout).Encode(answer); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// model is the compiled code as the checker wants it.
type model struct {
	job          Job
	words, bytes int
	machine      func() Machine
	workers      []*worker
}

func (m *model) Info() check.Info                 { return m.job.Info }
func (m *model) Show(check.State) []check.Binding { return nil }

// Remarks notes the workers; what is to be said is said by the one who asked.
func (m *model) Remarks(workers []check.Worker) []string {
	for _, w := range workers {
		m.workers = append(m.workers, w.(*worker))
	}
	return nil
}

// remarks joins what the workers saw.
func (m *model) remarks() (unmet []bool, ors, ands []uint64) {
	unmet, ors, ands = make([]bool, len(m.job.Antecedents)), make([]uint64, m.words), make([]uint64, m.words)
	for i := range unmet {
		unmet[i] = true
	}
	for i := range ands {
		ands[i] = ^uint64(0)
	}
	for _, w := range m.workers {
		left := make(map[int]bool)
		for _, i := range w.unmet {
			left[i] = true
		}
		for i := range unmet {
			unmet[i] = unmet[i] && left[i]
		}
		for i := range ors {
			ors[i] |= w.ors[i]
			ands[i] &= w.ands[i]
		}
	}
	return unmet, ors, ands
}

func (m *model) NewWorker() check.Worker {
	w := &worker{m: m, steps: m.machine(), tests: m.machine(), cur: make([]uint64, m.words), first: make([]uint64, m.words),
		ors: make([]uint64, m.words), ands: make([]uint64, m.words), buf: make([]byte, 0, 8*m.words)}
	for i := range w.ands {
		w.ands[i] = ^uint64(0)
	}
	for i := range m.job.Antecedents {
		w.unmet = append(w.unmet, i)
	}
	w.steps.Start(w.emit)
	return w
}

// worker evaluates for one goroutine.
type worker struct {
	m            *model
	steps, tests Machine
	cur, first   []uint64
	next         []uint64 // the candidate
	initial      bool
	visit        check.Visit
	err          error
	buf          []byte
	unmet        []int
	ors, ands    []uint64
}

func (w *worker) Assumptions() ([]string, error) { return nil, nil }

func (w *worker) Init(visit check.Visit) error {
	w.initial, w.next = true, w.first
	for _, s := range w.m.job.Initial {
		w.load(w.first, s)
		if err := visit(-1, s); err != nil {
			return err
		}
	}
	return nil
}

// load fills in words from the bytes of a state.
func (w *worker) load(words []uint64, s []byte) {
	last := len(words) - 1
	for i := range last {
		words[i] = binary.LittleEndian.Uint64(s[8*i:])
	}
	x := uint64(0)
	for i := len(s) - 1; i >= 8*last; i-- {
		x = x<<8 | uint64(s[i])
	}
	words[last] = x
}

func (w *worker) Next(s check.State, visit check.Visit) error {
	w.load(w.cur, s)
	for i, x := range w.cur {
		w.ors[i] |= x
		w.ands[i] &= x
	}
	w.initial, w.visit, w.err = false, visit, nil
	whole := w.steps.Run(w.cur)
	switch {
	case w.err != nil:
		return w.err
	case !whole:
		return errStopped
	}
	return nil
}

// emit visits a successor.
func (w *worker) emit(action int) bool {
	w.next = w.steps.Words()
	buf := w.buf[:8*len(w.next)]
	for i, x := range w.next {
		binary.LittleEndian.PutUint64(buf[8*i:], x)
	}
	w.err = w.visit(action, buf[:w.m.bytes])
	return w.err == nil
}

// holds evaluates a predicate of the candidate, or of the step to it.
func (w *worker) holds(i int, step bool) (bool, error) {
	cur, nxt := w.next, []uint64(nil)
	if step {
		cur, nxt = w.cur, w.next
	}
	holds, ok := w.tests.Holds(i, cur, nxt)
	if !ok {
		return false, errStopped
	}
	return holds, nil
}

func (w *worker) InModel() (bool, error) {
	for _, i := range w.m.job.Constraints {
		if inside, err := w.holds(i, false); err != nil || !inside {
			return false, err
		}
	}
	if w.initial {
		return true, nil
	}
	for _, i := range w.m.job.ActionConstraints {
		if inside, err := w.holds(i, true); err != nil || !inside {
			return false, err
		}
	}
	return true, nil
}

func (w *worker) BrokenInvariant() (int, error) {
	if len(w.unmet) > 0 {
		left := w.unmet[:0]
		for _, i := range w.unmet {
			holds, err := w.holds(w.m.job.Antecedents[i], false)
			if err != nil {
				return -1, err
			}
			if !holds {
				left = append(left, i)
			}
		}
		w.unmet = left
	}
	for k, i := range w.m.job.Invariants {
		if holds, err := w.holds(i, false); err != nil || !holds {
			return k, err
		}
	}
	return -1, nil
}

func (w *worker) BrokenStep() (int, error) { return -1, nil }
