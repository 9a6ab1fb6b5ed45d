// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// refusals are the pieces of work for which one worker or caller has found no room.
// No worker tries them again before a merge has succeeded, which may have freed
// space. Until then, only other merges at the bottom are tried.
//
// A worker that was idle, and the next put, begin with an empty list. But they
// leave out the merges that the tree lists as refused, until there is more room for
// them.
type refusals struct {
	merged int64 // tree.merges before the first of them was tried
	err    error // of the first; nil: there are none
	flush  bool  // writing a memtable was refused
	bottom bool  // so was a merge at the bottom, which may use the reserve
	jobs   []*trunk.Job
	asked  bool // the disk was asked for room for the merges that the tree lists
	// insist is for a caller that wants to know whether there is room now: each merge
	// is tried once, whatever the tree lists.
	insist bool
}

// want is the room that a merge or a flush did not find.
type want struct {
	need   uint64 // the maximum number of pages that it takes
	room   uint64 // the pages that were available for it
	merged int64  // tree.merges at that time
	err    error
}

// enough is the room that permits another attempt. Checkpoints themselves take and free
// some pages, up to the floor: that is not more room, unless it suffices.
func (w *want) enough(floor uint64) uint64 { return max(w.room+1, min(w.need, w.room+floor)) }

// refusal is a merge for which there was no room. Only more room, or other inputs, can
// change that.
type refusal struct {
	bottom bool
	hi     []byte
	inputs []uint64 // branches
	want
}

// pivot is the place of a merge.
type pivot struct {
	level int
	lo    string
}

// is reports whether a merge at the pivot is the one that was refused.
func (r *refusal) is(j *trunk.Job) bool {
	return r.bottom == j.Bottom && bytes.Equal(r.hi, j.Hi) &&
		slices.EqualFunc(r.inputs, j.Inputs, func(id uint64, in trunk.Ref) bool { return id == in.Branch.Meta.ID })
}

// purposeOfMerge returns the purpose of a merge: one at the bottom may use the reserve.
func purposeOfMerge(j *trunk.Job) purpose {
	if j.Bottom {
		return forWork
	}
	return forSpeed
}

// forgetRefused forgets the merges whose inputs are gone.
func (t *tree) forgetRefused() {
	for at, list := range t.refused {
		t.refused[at] = slices.DeleteFunc(list, func(r refusal) bool {
			return slices.ContainsFunc(r.inputs, func(id uint64) bool { return t.branches[id] == nil })
		})
		if len(t.refused[at]) == 0 {
			delete(t.refused, at)
		}
	}
}

// refuse lists a merge as refused.
func (t *tree) refuse(j *trunk.Job, err error) {
	t.forgetRefused()
	r := refusal{
		bottom: j.Bottom, hi: j.Hi, want: want{need: outputPages(j), room: t.db.space.room(purposeOfMerge(j)), merged: t.merged, err: err},
	}
	for _, in := range j.Inputs {
		r.inputs = append(r.inputs, in.Branch.Meta.ID)
	}
	at := pivot{j.Level, string(j.Lo)}
	list := slices.DeleteFunc(t.refused[at], func(r refusal) bool { return r.is(j) })
	t.refused[at] = append(list, r)
}

// hasRefused reports whether some merge is listed as refused.
func (t *tree) hasRefused() bool { return len(t.refused) > 0 }

// lacking is the room that permits another attempt at all listed merges of that
// purpose; 0: there is no such merge, or there is enough room for each.
func (t *tree) lacking(p purpose) (room uint64) {
	t.forgetRefused()
	floor := t.db.space.checkpoints()
	for _, list := range t.refused {
		for i := range list {
			r := &list[i]
			if (r.bottom == (p == forWork)) && !t.hasMoreRoom(&r.want, p) {
				room = max(room, r.enough(floor))
			}
		}
	}
	return room
}

// refusalOf returns the error of a merge for which there was no room, and for which
// there is still no more; nil: it may be tried. It is called for each pivot
// whenever a worker looks for work.
func (t *tree) refusalOf(j *trunk.Job) error {
	for _, r := range t.refused[pivot{j.Level, string(j.Lo)}] {
		if r.is(j) && !t.hasMoreRoom(&r.want, purposeOfMerge(j)) {
			return r.err
		}
	}
	return nil
}

// hasMoreRoom reports whether any refused work may be tried again.
func (t *tree) hasMoreRoom(w *want, p purpose) bool {
	room, floor := t.db.space.room(p), t.db.space.checkpoints()
	return room >= w.enough(floor) ||
		w.room >= w.need && w.merged != t.merged // there was enough, in pieces that were too short
}

// unflushed is the memtable for whose flush, or for the checkpoint after it, there was
// no room.
type unflushed struct {
	memtable uint64
	want
}

// flushEnded records how the flush of a memtable ended, or a checkpoint for which it
// was the oldest. The caller holds DB.mu.
func (t *tree) flushEnded(m *mem, err error) {
	t.unflushed = unflushed{}
	if lacksRoom(err) {
		floor := t.db.space.checkpoints()
		t.unflushed = unflushed{m.number, want{
			need: branchPages(m.table.Pos()) + floor, room: t.db.space.room(forTable), merged: t.merged, err: err,
		}}
	}
}

// flushRefused returns the error of the flush that is due, if there was no room for it
// and there is no more now. The caller holds DB.mu.
func (t *tree) flushRefused() error {
	mems := t.db.current.Load().mems
	if u := &t.unflushed; u.err != nil && u.memtable == mems[len(mems)-1].number && !t.hasMoreRoom(&u.want, forTable) {
		return u.err
	}
	return nil
}

// flushRoom is the maximum room that the refused flush takes.
func (t *tree) flushRoom() uint64 { return max(t.unflushed.need, t.unflushed.room+1) }

// insistOnFlush is for a caller that wants to know whether there is room now.
func (t *tree) insistOnFlush() { t.unflushed = unflushed{} }

// renew forgets the refusals when a merge has succeeded. The caller holds DB.mu.
func (r *refusals) renew(db *DB) {
	if n := db.tree.merges(); r.merged != n {
		*r = refusals{merged: n, asked: r.asked, insist: r.insist}
	}
}

// ask asks the disk once for the room that the listed refusals lack. The caller does
// not hold DB.mu: the disk may take long.
func (r *refusals) ask(db *DB) {
	if r.insist || r.asked {
		return
	}
	if db.enter() != nil {
		return
	}
	defer db.work.leave()
	db.mu.Lock()
	work, speed := db.tree.lacking(forWork), db.tree.lacking(forSpeed)
	db.mu.Unlock()
	r.asked = work > 0 || speed > 0
	db.space.ask(forWork, work)
	db.space.ask(forSpeed, speed)
}

// policy is DB.policy without refused merges. The caller holds DB.mu.
func (r *refusals) policy(db *DB, e eagerness) trunk.Policy {
	r.renew(db)
	p := db.policy(e)
	p.Tight = r.err != nil
	p.Skip = func(j *trunk.Job) bool { return db.tree.isSpoiled(j) || r.skips(db, j) }
	return p
}

// skips reports whether a merge must not be tried: it was refused, or a merge that
// may use the reserve was refused, and this one is not certain to find room.
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
	var history *historyError // its files take no pages of the store
	return errors.Is(err, env.ErrNoSpace) && !errors.As(err, &unreadable) && !errors.As(err, &history)
}

// outputPages is the maximum number of pages of a merge's outputs.
func outputPages(j *trunk.Job) uint64 { return mergedPages(j.Bytes(), max(j.Parts, 1)) }
