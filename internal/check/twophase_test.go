// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// twoPhase is the two-phase commit of Gray and Lamport, by hand: its counts
// are known from other checkers. A state is one word: two bits per resource
// manager, two for the transaction manager, one per manager for tmPrepared,
// one per manager for the message Prepared, and one each for Commit and Abort.
type twoPhase struct {
	n int
	// wrong lets the transaction manager commit without waiting.
	wrong bool
}

const (
	working = iota
	prepared
	committed
	aborted
)

const (
	tmCommit = iota
	tmAbort
	tmRcvPrepared
	rmPrepare
	rmChooseToAbort
	rmRcvCommitMsg
	rmRcvAbortMsg
)

func (m twoPhase) Info() Info {
	info := Info{Name: "TwoPhase", Invariants: []string{"Consistent"}, Deadlock: true}
	for _, name := range []string{"TMCommit", "TMAbort", "TMRcvPrepared", "RMPrepare", "RMChooseToAbort", "RMRcvCommitMsg", "RMRcvAbortMsg"} {
		info.Actions = append(info.Actions, Action{Name: name})
	}
	return info
}

func (m twoPhase) NewWorker() Worker { return &twoPhaseWorker{twoPhase: m} }

func (m twoPhase) Capabilities() ModelCapabilities { return ModelCapabilities{} }

func (m twoPhase) Show(s State) []Binding {
	w := binary.LittleEndian.Uint64(s)
	var rms []string
	for i := range m.n {
		rms = append(rms, [...]string{"working", "prepared", "committed", "aborted"}[w>>(2*i)&3])
	}
	return []Binding{{Name: "rmState", Value: strings.Join(rms, " ")}}
}

type twoPhaseWorker struct {
	twoPhase
	state uint64
	bytes [8]byte
}

func (w *twoPhaseWorker) Assumptions() ([]string, error) { return nil, nil }
func (w *twoPhaseWorker) InModel() (bool, error)         { return true, nil }
func (w *twoPhaseWorker) Capabilities() Capabilities     { return Capabilities{} }
func (w *twoPhaseWorker) BrokenStep() (int, error)       { return -1, nil }

func (w *twoPhaseWorker) BrokenInvariant() (int, error) {
	var seen [4]bool
	for i := range w.n {
		seen[w.state>>(2*i)&3] = true
	}
	if seen[committed] && seen[aborted] {
		return 0, nil
	}
	return -1, nil
}

func (w *twoPhaseWorker) emit(visit Visit, action int, state uint64) error {
	w.state = state
	binary.LittleEndian.PutUint64(w.bytes[:], state)
	return visit(action, w.bytes[:])
}

func (w *twoPhaseWorker) Init(visit Visit) error { return w.emit(visit, -1, 0) }

func (w *twoPhaseWorker) Next(from State, visit Visit) error {
	n := w.n
	s := binary.LittleEndian.Uint64(from)
	tm, tmPrep, prep := 2*n, 2*n+2, 3*n+2
	commit, abort := uint64(1)<<(4*n+2), uint64(1)<<(4*n+3)
	all := uint64(1)<<n - 1
	if s>>tm&3 == 0 {
		if s>>tmPrep&all == all || w.wrong {
			if err := w.emit(visit, tmCommit, s|1<<tm|commit); err != nil {
				return err
			}
		}
		if err := w.emit(visit, tmAbort, s|2<<tm|abort); err != nil {
			return err
		}
	}
	for i := range n {
		rm := s >> (2 * i) & 3
		without := s &^ (3 << (2 * i))
		steps := [...]struct {
			enabled bool
			action  int
			state   uint64
		}{
			{s>>tm&3 == 0 && s>>(prep+i)&1 == 1, tmRcvPrepared, s | 1<<(tmPrep+i)},
			{rm == working, rmPrepare, without | prepared<<(2*i) | 1<<(prep+i)},
			{rm == working, rmChooseToAbort, without | aborted<<(2*i)},
			{s&commit != 0, rmRcvCommitMsg, without | committed<<(2*i)},
			{s&abort != 0, rmRcvAbortMsg, without | aborted<<(2*i)},
		}
		for k := range steps {
			if steps[k].enabled {
				if err := w.emit(visit, steps[k].action, steps[k].state); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// TestTwoPhaseCounts compares the counts with those on which other checkers
// agree.
func TestTwoPhaseCounts(t *testing.T) {
	tests := []struct {
		n                   int
		generated, distinct int64
		depth               int
	}{
		{3, 1146, 288, 11},
		{4, 8258, 1568, 14},
		{5, 58146, 8832, 17},
		{6, 402306, 50816, 20},
	}
	for _, tt := range tests {
		for _, workers := range []int{1, 2} {
			r, err := Run(context.Background(), twoPhase{n: tt.n}, Options{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != OK || !r.Complete || r.Generated != tt.generated || r.Distinct != tt.distinct || r.Depth != tt.depth || r.Queue != 0 {
				t.Errorf("N=%d with %d workers: %v, complete %v, %d generated, %d distinct, depth %d, %d left; want %d, %d, %d",
					tt.n, workers, r.Verdict, r.Complete, r.Generated, r.Distinct, r.Depth, r.Queue, tt.generated, tt.distinct, tt.depth)
			}
		}
	}
}

// TestTwoPhaseCounterexample finds the shortest way to disagreement.
func TestTwoPhaseCounterexample(t *testing.T) {
	for _, workers := range []int{1, 3} {
		r, err := Run(context.Background(), twoPhase{n: 5, wrong: true}, Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range r.Trace {
			name := "Init"
			if s.Action >= 0 {
				name = r.Info.Actions[s.Action].Name
			}
			got = append(got, name+": "+s.Values[0].Value)
		}
		want := []string{
			"Init: working working working working working",
			"TMCommit: working working working working working",
			"RMChooseToAbort: aborted working working working working",
			"RMRcvCommitMsg: aborted committed working working working",
		}
		if r.Verdict != InvariantViolated || r.Property != "Consistent" || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%d workers: %v of %q:\n%s", workers, r.Verdict, r.Property, strings.Join(got, "\n"))
		}
	}
}

func BenchmarkTwoPhase(b *testing.B) {
	for _, bench := range []struct {
		n, workers          int
		generated, distinct int64
		depth               int
	}{
		{7, 1, 2744706, 296448, 23},
		{7, 2, 2744706, 296448, 23},
		{8, 1, 18507778, 1745408, 26},
		{8, 2, 18507778, 1745408, 26},
	} {
		b.Run(fmt.Sprintf("N=%d/workers=%d", bench.n, bench.workers), func(b *testing.B) {
			for range b.N {
				r, err := Run(context.Background(), twoPhase{n: bench.n}, Options{Workers: bench.workers})
				if err != nil {
					b.Fatal(err)
				}
				if r.Verdict != OK || r.Generated != bench.generated || r.Distinct != bench.distinct || r.Depth != bench.depth {
					b.Fatalf("%v: %d generated, %d distinct, depth %d", r.Verdict, r.Generated, r.Distinct, r.Depth)
				}
				b.ReportMetric(float64(r.Generated)*float64(b.N)/b.Elapsed().Seconds(), "generated/s")
				b.ReportMetric(float64(r.Bytes)/float64(r.Distinct), "B/state")
			}
		})
	}
}
