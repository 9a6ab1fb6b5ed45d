// SPDX-License-Identifier: Apache-2.0

package store

import (
	"sync"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// durability knows up to which change everything is durable, in the tree or in
// the journal, and lets calls of Sync share their work: one of them leads, and
// the others wait for it.
type durability struct {
	mu      invariant.Mutex // a leaf: no lock is taken while it is held
	ended   *sync.Cond      // a sync has ended, or reached has grown
	syncing bool
	reached message.Seq
}

func (d *durability) init() {
	d.mu.SetRank(rankLeaf, "durability")
	d.ended = sync.NewCond(&d.mu)
}

// lead returns true if the caller must make the changes up to seq durable, and then
// call end. It returns false when they are durable, if necessary after waiting for
// another caller. If stopped returns an error, lead returns it.
func (d *durability) lead(seq message.Seq, stopped func() error) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		if d.reached >= seq {
			return false, nil
		}
		if err := stopped(); err != nil {
			return false, err
		}
		if !d.syncing {
			d.syncing = true
			return true, nil
		}
		d.ended.Wait()
	}
}

// end ends what the caller leads: the changes up to seq are durable.
func (d *durability) end(seq message.Seq) {
	d.mu.Lock()
	d.syncing = false
	d.reached = max(d.reached, seq)
	d.ended.Broadcast()
	d.mu.Unlock()
}

// upTo is the last change up to which everything is durable.
func (d *durability) upTo() message.Seq {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reached
}

// reach records that the changes up to seq are durable.
func (d *durability) reach(seq message.Seq) {
	d.mu.Lock()
	d.reached = max(d.reached, seq)
	d.ended.Broadcast()
	d.mu.Unlock()
}
