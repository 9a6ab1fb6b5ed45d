// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// covers is how the range tombstones of all sources together cover the keys that a walk
// passes within [lo, hi): the cover around the last key that was asked for, and its number,
// which is different for each.
type covers struct {
	sources []Tombstones // newest first
	at      message.Seq
	lo, hi  []byte
	now     message.Cover
	number  int // 0: none was asked for
}

func (c *covers) reset(view View) {
	clear(c.sources)
	*c = covers{sources: c.sources[:0], at: view.At, lo: view.Lo, hi: view.Hi}
}

// over is the number of the newest tombstone over the key, or zero.
func (c *covers) over(key []byte) message.Seq {
	if len(c.sources) == 0 {
		return 0
	}
	if p := (message.Place{At: key}); c.number == 0 || !c.now.Has(p) {
		c.now = c.around(p)
		c.number++
	}
	return c.now.Seq
}

// around asks all sources that may have a newer tombstone over the place than those before.
func (c *covers) around(p message.Place) message.Cover {
	all := message.Cover{Lo: c.lo, Hi: c.hi}
	for _, s := range c.sources {
		if newest := s.Newest(); newest > all.Seq {
			all.Meet(s.Around(p, c.at))
		}
	}
	return all
}

// endAbove is where what hides everything up to newest ends, going up from the
// present cover: covers that touch and are newer than that are one.
func (c *covers) endAbove(newest message.Seq) []byte {
	end := c.now.Hi
	for c.hi == nil || bytes.Compare(end, c.hi) < 0 {
		next := c.around(message.Place{At: end})
		if next.Seq <= newest {
			break
		}
		end = next.Hi
	}
	return end
}

// endBelow is the same going down.
func (c *covers) endBelow(newest message.Seq) []byte {
	end := c.now.Lo
	for c.lo == nil || bytes.Compare(c.lo, end) < 0 {
		next := c.around(message.Place{At: end, Below: true})
		if next.Seq <= newest {
			break
		}
		end = next.Lo
	}
	return end
}
