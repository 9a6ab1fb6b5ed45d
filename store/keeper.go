// SPDX-License-Identifier: Apache-2.0

package store

import (
	"sync"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
)

// keeper keeps the pages of branches that copies have not read yet. A copy may take as
// long as its destination, so it pins no state: the memory of branches that the tree
// drops meanwhile is freed, and so are the pages of branches that the copy does not
// have, or has written already.
type keeper struct {
	mu      invariant.Mutex // a leaf
	users   map[uint64]int  // copies that have still to read the branch
	dropped map[uint64]branch.Meta
}

func (k *keeper) init() {
	k.mu.SetRank(rankLeaf, "keeper")
	k.users, k.dropped = map[uint64]int{}, map[uint64]branch.Meta{}
}

// keep keeps the pages of a branch until done is called. The caller has pinned a state
// that has the branch.
func (k *keeper) keep(id uint64) {
	k.mu.Lock()
	k.users[id]++
	k.mu.Unlock()
}

// done ends one call of keep. It returns true if the caller must free the pages of the
// branch, to which nothing else refers.
func (k *keeper) done(id uint64) (meta branch.Meta, last bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.users[id]--; k.users[id] > 0 {
		return meta, false
	}
	delete(k.users, id)
	meta, last = k.dropped[id]
	delete(k.dropped, id)
	return meta, last
}

// keeps is called when nothing but copies refers to a branch. It returns true if some do:
// then the last of them gives the pages back.
func (k *keeper) keeps(meta branch.Meta) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.users[meta.ID] == 0 {
		return false
	}
	k.dropped[meta.ID] = meta
	return true
}

// gone lets Close wait for readers.
type gone struct {
	mu    invariant.Mutex // a leaf
	ended *sync.Cond      // a reader has given back its state
}

func (g *gone) init() {
	g.mu.SetRank(rankLeaf, "gone")
	g.ended = sync.NewCond(&g.mu)
}

// await waits until is returns true, which a reader may cause.
func (g *gone) await(is func() bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !is() {
		g.ended.Wait()
	}
}

func (g *gone) wake() {
	g.mu.Lock()
	g.ended.Broadcast()
	g.mu.Unlock()
}
