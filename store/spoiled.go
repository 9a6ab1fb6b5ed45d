// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"

	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// A merge that cannot read an input, because a block or a place on the disk is
// damaged, can never succeed. The store does not try it again, so that the merges
// of all other ranges continue, nor a merge of the same pivot with the same
// inputs and more. Later writes to the pivot are merged separately. A range
// delete over all of it or a repair ends this state; opening the store again
// makes one more attempt.

// readError is the error of a merge that could not read an input. When run
// returns one, the merge is recorded as spoiled, so that callers may continue
// with the next one. A shortage of memory is never a readError: it passes.
type readError struct{ error }

func (e readError) Unwrap() error { return e.error }

// spoil records that a merge could not read an input. The caller holds DB.mu.
func (t *tree) spoil(j *trunk.Job) {
	if !t.isSpoiled(j) {
		t.spoiled = append(t.spoiled, &trunk.Job{Level: j.Level, Lo: j.Lo, Inputs: j.Inputs})
	}
}

// isSpoiled reports whether a merge has the inputs of one that could not be made.
// The caller holds DB.mu.
func (t *tree) isSpoiled(j *trunk.Job) bool {
	for _, s := range t.spoiled {
		if s.Level == j.Level && bytes.Equal(s.Lo, j.Lo) && hasAll(j.Inputs, s.Inputs) {
			return true
		}
	}
	return false
}

func hasAll(refs, some []trunk.Ref) bool {
	for _, s := range some {
		has := false
		for _, r := range refs {
			has = has || r.Branch == s.Branch
		}
		if !has {
			return false
		}
	}
	return true
}
