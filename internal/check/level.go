// SPDX-License-Identifier: Apache-2.0

package check

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/check/spill"
)

// level holds the waiting states: those of the level being expanded and those
// of the next one. Only the goroutine of run uses it: workers read the states
// of their chunks instead.
type level struct {
	current, next *spill.Tape // states, each preceded by its length
	at            position    // in current: the first state that is not expanded
	number        uint32      // its number: how many states are expanded
	left, ahead   int64       // states of current that are not expanded, and of next
	index         int         // states on the shortest path to those of current
}

// position is a place on a tape.
type position struct{ block, offset int }

// levelName is the name of a tape's file.
func levelName(level int) string { return fmt.Sprintf("level-%d", level) }

// errNoLength reports that the bytes of a level are not what the search wrote.
var errNoLength = errors.New("check: a level of the search is damaged")

func newLevel(disk env.Disk) level {
	return level{current: spill.NewTape(disk, levelName(0)), next: spill.NewTape(disk, levelName(1))}
}

// waiting is the number of states not yet expanded, inLevel the number of those
// in the current level.
func (l *level) waiting() int64 { return l.left + l.ahead }
func (l *level) inLevel() int64 { return l.left }

// expanded is how many states were expanded.
func (l *level) expanded() int64 { return int64(l.number) }

// depth is the number of states on a shortest path to a state of the current
// level.
func (l *level) depth() int { return l.index }

// opens reports whether the next state to be added is the first of the next level.
func (l *level) opens() bool { return l.ahead == 0 }

// add appends n states, each preceded by its length, to the next level.
func (l *level) add(n int, states []byte) {
	l.next.Append(n, states)
	l.ahead += int64(n)
}

// pass skips n states that were expanded; the last of them ends at to.
func (l *level) pass(n int, to position) {
	if n == 0 {
		return
	}
	l.left -= int64(n)
	l.number += uint32(n)
	l.at = to
}

// deeper makes the next level the current one. The tape of the old one is emptied
// with reset, which gives its next file a name.
func (l *level) deeper(reset func(t *spill.Tape, name string) error) error {
	l.current, l.next = l.next, l.current
	l.at, l.left, l.ahead = position{}, l.ahead, 0
	l.index++
	return reset(l.next, levelName(l.index+1))
}

// cut divides the next part of the level, from the first state that is not expanded,
// into a segment of up to most chunks of up to size states each. It reads about as many
// bytes as the segment allows a worker. It returns how many states the chunks have.
func (l *level) cut(g *segment, most, size int) (states int, err error) {
	g.clear()
	at, number, bytes := l.at, l.number, int64(0)
	for g.size() < most && int64(states) < l.left {
		data, err := l.current.Keep(at.block)
		if err != nil {
			return 0, err
		}
		if at.offset == len(data) {
			at = position{at.block + 1, 0}
			continue
		}
		if g.tooMuch(bytes) {
			break
		}
		c := g.add()
		c.number = number
		from := at.offset
		for c.size < size && at.offset < len(data) {
			n, w := binary.Uvarint(data[at.offset:])
			if w <= 0 || n > uint64(len(data)-at.offset-w) {
				return 0, errNoLength
			}
			at.offset += w + int(n)
			c.size++
		}
		c.data, c.end = data[from:at.offset], at
		bytes += int64(len(c.data))
		number += uint32(c.size)
		states += c.size
	}
	return states, nil
}

// release frees the blocks of the current level before the first waiting state.
func (l *level) release() { l.current.Release(l.at.block) }

// held is the size of the states in memory, and stored their size on disk.
func (l *level) held() int64   { return l.current.Held() + l.next.Held() }
func (l *level) stored() int64 { return l.current.Stored() + l.next.Stored() }

// spill moves both levels to disk if they take more than room bytes.
func (l *level) spill(room int64) error {
	if l.held() <= room {
		return nil
	}
	if err := l.next.Store(true, 0); err != nil {
		return err
	}
	return l.current.Store(true, l.at.block+1)
}

// save fills in the fields of a checkpoint, except the tapes.
func (l *level) save(m *manifest) {
	m.Level, m.Number, m.Left, m.Ahead, m.Offset = l.index, l.number, l.left, l.ahead, l.at.offset
}

// restore takes over the fields of a checkpoint, except the tapes.
func (l *level) restore(m *manifest) {
	l.index, l.number, l.left, l.ahead = m.Level, m.Number, m.Left, m.Ahead
	l.at = position{0, m.Offset}
}

// tapes are those of both levels, with their places in a checkpoint.
func (l *level) tapes(m *manifest) []taped {
	return []taped{{&l.current, min(l.at.block, l.current.Blocks()), &m.Current}, {&l.next, 0, &m.Next}}
}
