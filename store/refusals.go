// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// refusals are the pieces of work for which one worker or caller has found no room.
// They are not tried again before a merge has succeeded, whoever made it: that may
// have given back space. Until some merge succeeds, only other merges at the bottom
// are tried.
//
// A worker that has rested, and the next put, begin with none. But they leave out
// the merges that the tree lists as refused, until there is more room for them.
type refusals struct {
	merged int64 // tree.merges before the first of them was tried
	err    error // of the first; nil: there are none
	flush  bool  // writing a memtable was refused
	bottom bool  // so was a merge at the bottom, which may use the reserve
	jobs   []*trunk.Job
	asked  bool // the disk was asked for room for what the tree lists
	// insist is for a caller who wants to know: each merge is tried once, whatever the
	// tree lists.
	insist bool
}

// refusal is a merge for which there was no room. Nothing changes that but more room, or
// other inputs.
type refusal struct {
	key    string // of the inputs
	inputs []uint64
	need   uint64 // pages that its outputs take at most
	room   uint64 // pages that there were for it
	merged int64  // tree.merges then
	err    error
}

// inputsOf identifies a merge: the branches and the range.
func inputsOf(j *trunk.Job) (key string, ids []uint64) {
	b := fmt.Appendf(nil, "%d %v %q %q", j.Level, j.Bottom, j.Lo, j.Hi)
	for _, r := range j.Inputs {
		b = fmt.Appendf(b, " %d", r.Branch.Meta.ID)
		ids = append(ids, r.Branch.Meta.ID)
	}
	return string(b), ids
}

// purposeOfMerge says what a merge must leave: one at the bottom may use the reserve.
func purposeOfMerge(j *trunk.Job) purpose {
	if j.Bottom {
		return forWork
	}
	return forSpeed
}

// refuse lists a merge as refused, and forgets those whose inputs are gone.
func (t *tree) refuse(j *trunk.Job, err error) {
	key, ids := inputsOf(j)
	t.refused = slices.DeleteFunc(t.refused, func(r refusal) bool {
		return r.key == key || slices.ContainsFunc(r.inputs, func(id uint64) bool { return t.branches[id] == nil })
	})
	t.refused = append(t.refused, refusal{
		key: key, inputs: ids, need: outputPages(j), room: t.db.space.room(purposeOfMerge(j)), merged: t.merged, err: err,
	})
}

// hasRefused reports whether some merge is listed as refused.
func (t *tree) hasRefused() bool { return len(t.refused) > 0 }

// refusalOf returns the error of a merge for which there was no room, and for which
// there is no more now; nil: it may be tried. Checkpoints themselves take and
// give back some pages, up to the floor: that is not more room, unless it suffices.
func (t *tree) refusalOf(j *trunk.Job) error {
	if len(t.refused) == 0 {
		return nil
	}
	key, _ := inputsOf(j)
	for _, r := range t.refused {
		if r.key != key {
			continue
		}
		room, floor := t.db.space.room(purposeOfMerge(j)), t.db.space.checkpoints()
		if room >= max(r.room+1, min(r.need, r.room+floor)) || r.room >= r.need && r.merged != t.merged {
			return nil // or there was enough, in pieces that were too short
		}
		return r.err
	}
	return nil
}

// renew forgets the refusals when a merge has succeeded. The caller holds DB.mu.
func (r *refusals) renew(db *DB) {
	if n := db.tree.merges(); r.merged != n {
		*r = refusals{merged: n, asked: r.asked, insist: r.insist}
	}
}

// policy is DB.policy without what was refused. The caller holds DB.mu.
func (r *refusals) policy(db *DB, alpha float64) trunk.Policy {
	r.renew(db)
	if !r.insist && !r.asked && db.tree.hasRefused() {
		r.asked = true
		db.space.ask()
	}
	p := db.policy(alpha)
	p.Tight = r.err != nil
	p.Skip = func(j *trunk.Job) bool { return db.tree.isSpoiled(j) || r.skips(db, j) }
	return p
}

// skips reports that a merge is not tried: it was refused, or a merge that may use
// the reserve was refused, and this one is not sure to find room.
func (r *refusals) skips(db *DB, j *trunk.Job) bool {
	if err := db.tree.refusalOf(j); err != nil && !r.insist {
		r.err = cmp.Or(r.err, err)
		return true
	}
	for _, k := range r.jobs {
		if k.Level == j.Level && k.Bottom == j.Bottom && bytes.Equal(k.Lo, j.Lo) {
			return true
		}
	}
	return r.bottom && j.Bottom && !db.space.has(outputPages(j), forWork)
}

// add records a merge that ended with err, if that was for lack of room, and
// reports whether it was.
func (r *refusals) add(db *DB, j *trunk.Job, err error) bool {
	if !lacksRoom(err) {
		return false
	}
	db.mu.Lock()
	db.tree.refuse(j, err)
	db.mu.Unlock()
	r.err = cmp.Or(r.err, err)
	r.bottom = r.bottom || j.Bottom
	r.jobs = append(r.jobs, j)
	return true
}

// lacksRoom reports that a merge found no room to write: an ErrNoSpace from reading
// an input does not count.
func lacksRoom(err error) bool {
	var unreadable readError
	return errors.Is(err, env.ErrNoSpace) && !errors.As(err, &unreadable)
}

// outputPages is what the outputs of a merge take at most.
func outputPages(j *trunk.Job) uint64 { return mergedPages(j.Bytes(), max(j.Parts, 1)) }
