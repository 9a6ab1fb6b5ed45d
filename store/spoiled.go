// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"

	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// A merge that cannot read an input can never be made: a block is damaged, or a
// place of the disk is. It is not tried again, so that the merges of all other
// ranges go on, and nor is one of the same pivot that has the same inputs and
// more. What is written later to the pivot is merged beside them. A range
// delete over all of it, or a repair, ends that; so does opening the store again,
// which tries once more.

// readError is the error of a merge that could not read an input. When run
// returns one, the merge is recorded as spoiled, so that callers may go on with
// the next one. A shortage of memory is never a readError: it passes.
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
