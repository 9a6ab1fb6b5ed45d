// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"errors"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// readNeeds finds out which segments of other RMs a segment from before a
// takeover needs. All YES votes count, whatever their outcome.
func (c *chain) readNeeds(s *segment) {
	needs := map[RM]uint64{}
	end := func(err error) {
		switch {
		case errors.Is(err, wor.ErrTrimmed):
			s.needs = map[RM]uint64{}
		case err == nil:
			s.needs = needs
		}
		if s.trimming = false; s.needs != nil {
			c.collect()
		}
	}
	var read func(lo uint32)
	read = func(lo uint32) {
		r, more := s.piece(lo)
		if !more {
			end(nil)
			return
		}
		c.e.opt.Space.ReadRange(r, 0, func(cells []wor.Cell, err error) {
			if err == nil && errors.Is(cells[0].Err, wor.ErrTrimmed) {
				err = cells[0].Err
			}
			if err != nil {
				end(err)
				return
			}
			probe := &segment{needs: needs}
			for _, cell := range cells {
				if v := decodeVote(cell.Value); cell.Err == nil && v.Yes {
					probe.need(v.Slots, c.rm)
				}
			}
			read(r.Hi)
		})
	}
	c.e.roomOf(c.rm, s.n, func(room uint32, err error) {
		if err != nil {
			end(err)
			return
		}
		if room > 0 && room <= s.size/2 {
			s.room = room
		}
		read(0)
	})
}
