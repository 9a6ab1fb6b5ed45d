// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// tree is the newest tree: the trunk, the branches to which it refers, the changes
// since the last checkpoint, and the running compactions. Its lock is DB.mu, which
// the callers of its methods hold.
type tree struct {
	db         *DB
	trunk      *trunk.Trunk
	branches   map[uint64]*trunk.Branch
	tombstoned int // branches with range deletes
	changes    changes
	nextID     uint64
	kept       upkeep
	jobs       []*trunk.Job
	merged     int64               // jobs that were committed and have ended
	spoiled    []*trunk.Job        // merges that could not read an input
	refused    map[pivot][]refusal // merges that found no room
	unflushed  unflushed
	charged    int64 // of the pool, for descriptions
}

func (t *tree) init(db *DB) {
	t.db, t.branches, t.refused = db, map[uint64]*trunk.Branch{}, map[pivot][]refusal{}
}

// load makes the tree of a root, which is nil in an empty store. Recovery calls
// it when it has added the branches.
func (t *tree) load(root *trunk.Node) {
	shape := t.db.opt.shape()
	if root == nil {
		t.trunk = trunk.New(shape, t.newID)
	} else {
		t.trunk = trunk.Load(shape, t.newID, root)
	}
	t.changes = changes{root: root}
}

// resume is called by recovery with the last number of the newest superblock.
func (t *tree) resume(lastID uint64) { t.nextID = lastID }

// newID returns a number that no branch or node of this store has had.
func (t *tree) newID() uint64 {
	t.nextID++
	return t.nextID
}

// lastID is what newID returned last.
func (t *tree) lastID() uint64 { return t.nextID }

// root is the root of the trunk, which is immutable.
func (t *tree) root() *trunk.Node { return t.trunk.Root() }

// height is the number of levels of the trunk.
func (t *tree) height() int { return t.trunk.Root().Level + 1 }

// runs is the number of branches that a read may have to search.
func (t *tree) runs() int { return t.trunk.Runs() }

// leaf is the intended size of a partition, in bytes, when the tree has that many more bytes.
func (t *tree) leaf(more int64) int64 { return t.trunk.Leaf(more) }

// debt is how many bytes compactions must read.
func (t *tree) debt(p trunk.Policy) int64 { return t.trunk.Debt(p) }

// tombstoneBytes is the memory that the range deletes of all branches take, and a
// merge of them.
func (t *tree) tombstoneBytes() int64 { return t.trunk.TombstoneBytes() }

// hasTombstones reports whether some branch has range deletes.
func (t *tree) hasTombstones() bool { return t.tombstoned > 0 }

// branch returns a branch of the tree.
func (t *tree) branch(id uint64) (*trunk.Branch, bool) {
	b, ok := t.branches[id]
	return b, ok
}

// all are the branches of the tree, which the caller does not change.
func (t *tree) all() map[uint64]*trunk.Branch { return t.branches }

// found adds a branch that the newest superblock contains.
func (t *tree) found(b *trunk.Branch) {
	t.branches[b.Meta.ID] = b
	if b.Meta.RangeDeletes > 0 {
		t.tombstoned++
	}
}

// adopt adds branches to which the trunk refers now.
func (t *tree) adopt(branches ...*trunk.Branch) {
	for _, b := range branches {
		t.found(b)
		t.changes.putBranch(b)
	}
}

// attach puts the branches of a memtable on top of the tree.
func (t *tree) attach(branches ...*trunk.Branch) {
	for _, b := range branches {
		t.trunk.Attach(b)
	}
	t.adopt(branches...)
}

// gone takes out the branches to which the trunk no longer refers, and returns
// them.
func (t *tree) gone() []*trunk.Branch {
	gone := t.trunk.Gone()
	for _, b := range gone {
		delete(t.branches, b.Meta.ID)
		t.changes.dropBranch(b.Meta.ID)
		if b.Meta.RangeDeletes > 0 {
			t.tombstoned--
		}
	}
	return gone
}

// The approximate Go heap memory of a description, in bytes: that of a branch with its entry in the
// table of the store, and a reference of a pivot; a checkpoint keeps the former one and the table
// another copy. As much again may wait for the collector.
const (
	branchHeap  = 2 * 1600
	refHeap     = 2 * 150
	heapForTree = 4 // the fraction of the heap's share of Memory for descriptions
)

// charge takes memory of the pool for the descriptions that exceed the heap's share, so that both
// together keep to Options.Memory. If there is none, the next call tries again.
func (t *tree) charge() {
	o, pool := &t.db.opt, t.db.pool
	if o.Memory < MemoryMin {
		return // a bound of tests
	}
	branches, refs := t.trunk.Counts()
	want := max(int64(branches)*branchHeap+int64(refs)*refHeap-(o.Memory-pool.Limit())/heapForTree, 0)
	if want < t.charged {
		pool.Discharge(t.charged - want)
		t.charged = want
	} else if want > t.charged && pool.Charge(want-t.charged) {
		t.charged = want
	}
}

// freeze returns the changes since it was last called.
func (t *tree) freeze() changes {
	c := t.changes
	t.changes = changes{root: t.trunk.Root()}
	return c
}

// changes are those of the tree since the last checkpoint, beside the nodes,
// which are found by comparing the trees.
type changes struct {
	put  map[uint64]*trunk.Branch
	drop map[uint64]bool
	root *trunk.Node // at the last checkpoint
}

func (c *changes) putBranch(b *trunk.Branch) {
	if c.put == nil {
		c.put = map[uint64]*trunk.Branch{}
	}
	c.put[b.Meta.ID] = b
}

func (c *changes) dropBranch(id uint64) {
	if c.drop == nil {
		c.drop = map[uint64]bool{}
	}
	c.drop[id] = true
}

// next returns the most urgent job, and takes it unless it is a flush; nil: there
// is none.
func (t *tree) next(p trunk.Policy) *trunk.Job { return t.take(t.trunk.Next(p)) }

// due reports whether there is a job.
func (t *tree) due(p trunk.Policy) bool { return t.trunk.Next(p) != nil }

// inRange is next for a merge of everything in [lo, hi).
func (t *tree) inRange(lo, hi []byte, p trunk.Policy) *trunk.Job {
	return t.take(t.trunk.Range(lo, hi, p))
}

// shrink is next for what frees space.
func (t *tree) shrink(worth trunk.Worth, p trunk.Policy) *trunk.Job {
	return t.take(t.trunk.Shrink(worth, p))
}

// flush does a job that only moves references, and reports whether it moved any.
func (t *tree) flush(j *trunk.Job) bool {
	delete(t.refused, pivot{j.Level, string(j.Lo)})
	return t.trunk.Flush(j)
}

// take marks a compaction as running, until end is called. Its inputs stay until
// the caller has given them back.
func (t *tree) take(j *trunk.Job) *trunk.Job {
	if j == nil || j.Flush {
		return j
	}
	for _, r := range j.Inputs {
		r.Branch.Retain()
	}
	t.jobs = append(t.jobs, j)
	return j
}

// commit puts the outputs of a compaction in the place of its inputs. It returns
// false if they have changed meanwhile.
func (t *tree) commit(j *trunk.Job, outputs []*trunk.Branch) bool {
	if !t.trunk.Commit(j, outputs) {
		return false
	}
	delete(t.refused, pivot{j.Level, string(j.Lo)}) // what was refused there had other inputs
	t.adopt(outputs...)                             // before gone takes out those that got no reference
	return true
}

// end is called when a compaction has been committed or abandoned, and the caller
// has given back its inputs.
func (t *tree) end(j *trunk.Job, committed bool) {
	t.jobs = slices.DeleteFunc(t.jobs, func(k *trunk.Job) bool { return k == j })
	if committed {
		t.merged++
	}
}

// merges is the number of compactions that were committed and have ended: each may
// have freed space.
func (t *tree) merges() int64 { return t.merged }

// merging reports whether compactions are running.
func (t *tree) merging() bool { return len(t.jobs) > 0 }

// isBusy reports whether a compaction is merging at that pivot.
func (t *tree) isBusy(level int, lo []byte) bool {
	for _, j := range t.jobs {
		if j.Level == level && string(j.Lo) == string(lo) {
			return true
		}
	}
	return false
}

// upkeep is the number of pages that merging the tree takes.
func (t *tree) upkeep() *upkeep {
	if root := t.trunk.Root(); t.kept.root != root {
		w := root.Weight()
		t.kept = upkeep{root: root, weight: w, pages: mergedPages(w.Newer, w.Pieces)}
		if w.Largest > 0 {
			t.kept.pages += mergedPages(w.Largest, 8)
		}
		var index int64
		for _, b := range t.branches {
			index = max(index, int64(b.Meta.Index.Len))
		}
		t.db.space.setUnit(index)
		t.db.space.setDeletes(t.db.opt.Tuning.MemtableBytes, w.Partitions)
	}
	return &t.kept
}

// free frees the memory of the branches.
func (t *tree) free() {
	for _, b := range t.branches {
		b.Index.Close()
	}
	t.db.pool.Discharge(t.charged)
	t.charged = 0
}
