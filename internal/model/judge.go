// SPDX-License-Identifier: Apache-2.0

package model

import "github.com/ashlar-dev/ashlar/internal/check"

// packedJudge evaluates the invariants of candidates that a worker visited
// earlier. It has its own evaluator, because the worker may be in the middle of
// an evaluation.
type packedJudge struct {
	*packedWorker
	of *packedWorker
}

// Later returns an evaluator of invariants for use after visits.
func (w *packedWorker) Later() (j check.Judge, constrained bool) {
	judge := &packedJudge{w.m.newPackedWorker(), w}
	judge.run.Stop = w.run.Stop
	return judge, len(w.m.constraints)+len(w.m.actionConstraints) > 0
}

// See makes s the candidate.
func (j *packedJudge) See(s check.State) {
	j.nextPacked = j.p.layout.LoadBytes(j.words, s)
	j.next, j.nxLoaded = j.words, !j.nextPacked
	if !j.nextPacked {
		j.m.codec.Decode(s[1:], j.seen, j.ends)
	}
	j.run.Level = j.of.level + 1
}

// BrokenInvariant is the worker's: the worker records which antecedents were
// true.
func (j *packedJudge) BrokenInvariant() (int, error) {
	j.unmet = j.of.unmet
	i, err := j.packedWorker.BrokenInvariant()
	j.of.unmet = j.unmet
	return i, err
}

// AtLevel sets the number of states on the path to the next expanded state.
func (w *packedWorker) AtLevel(level int) {
	w.level = level
	w.worker.AtLevel(level)
}
