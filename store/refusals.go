// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"cmp"
	"errors"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// refusals are the pieces of work for which one worker or caller has found no room.
// They are not tried again before a merge has succeeded, whoever made it: that may
// have given back space. Until some merge succeeds, only other merges at the bottom
// are tried.
type refusals struct {
	merged int64 // tree.merges before the first of them was tried
	err    error // of the first; nil: there are none
	flush  bool  // writing a memtable was refused
	bottom bool  // so was a merge at the bottom, which may use the reserve
	jobs   []*trunk.Job
}

// renew forgets the refusals when a merge has succeeded. The caller holds DB.mu.
func (r *refusals) renew(db *DB) {
	if n := db.tree.merges(); r.merged != n {
		*r = refusals{merged: n}
	}
}

// policy is DB.policy without what was refused. The caller holds DB.mu.
func (r *refusals) policy(db *DB, alpha float64) trunk.Policy {
	r.renew(db)
	p := db.policy(alpha)
	if r.err != nil {
		p.Tight = true
		p.Skip = func(j *trunk.Job) bool { return db.tree.isSpoiled(j) || r.skips(db, j) }
	}
	return p
}

// skips reports that a merge is not tried: it was refused, or a merge that may use
// the reserve was refused, and this one is not sure to find room.
func (r *refusals) skips(db *DB, j *trunk.Job) bool {
	for _, k := range r.jobs {
		if k.Level == j.Level && k.Bottom == j.Bottom && bytes.Equal(k.Lo, j.Lo) {
			return true
		}
	}
	return r.bottom && j.Bottom && !db.space.has(outputPages(j), forWork)
}

// add records a merge that ended with err, if that was for lack of room, and
// reports whether it was.
func (r *refusals) add(j *trunk.Job, err error) bool {
	if !lacksRoom(err) {
		return false
	}
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
