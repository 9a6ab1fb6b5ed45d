// SPDX-License-Identifier: Apache-2.0

package model

import "github.com/ashlar-dev/ashlar/internal/check"

// packedJudge evaluates the invariants of candidates that a worker visited some
// time ago. It has an evaluator of its own, since the worker may be in the midst
// of something.
type packedJudge struct {
	*packedWorker
	of *packedWorker
}

// Later returns what evaluates invariants after visits.
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

// BrokenInvariant is that of the worker, which remembers what was true.
func (j *packedJudge) BrokenInvariant() (int, error) {
	j.unmet = j.of.unmet
	i, err := j.packedWorker.BrokenInvariant()
	j.of.unmet = j.unmet
	return i, err
}

// AtLevel sets how many states the path to the next expanded state has.
func (w *packedWorker) AtLevel(level int) {
	w.level = level
	w.worker.AtLevel(level)
}
