// SPDX-License-Identifier: Apache-2.0

package merge

import "github.com/ashlar-dev/ashlar/internal/store/message"

// Points is an iterator that leaves out range deletes.
type Points struct{ message.Iter }

func (p Points) skip(ok bool, move func() bool) bool {
	for ok && p.Iter.Message().Kind == message.RangeDelete {
		ok = move()
	}
	return ok
}

// First moves to the first message.
func (p Points) First() bool { return p.skip(p.Iter.First(), p.Iter.Next) }

// Last moves to the last message.
func (p Points) Last() bool { return p.skip(p.Iter.Last(), p.Iter.Prev) }

// Next moves on.
func (p Points) Next() bool { return p.skip(p.Iter.Next(), p.Iter.Next) }

// Prev moves back.
func (p Points) Prev() bool { return p.skip(p.Iter.Prev(), p.Iter.Prev) }

// SeekGE moves to the first message at or above the key.
func (p Points) SeekGE(key []byte) bool { return p.skip(p.Iter.SeekGE(key), p.Iter.Next) }

// SeekLT moves to the last message below the key.
func (p Points) SeekLT(key []byte) bool { return p.skip(p.Iter.SeekLT(key), p.Iter.Prev) }
