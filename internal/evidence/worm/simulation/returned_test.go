// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store/wal"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Whether a restored disk must be noticed is judged by the disks of all servers, read as
// docs/format/worm.md describes them, and by the answers that clients received: not by
// what any server reports about itself.

// lostLives describes the lives of a server between the copy of its disk and the
// restoration of the copy.
type lostLives struct {
	h      *host
	since  uint64                // the ghost's time of the copy
	kept   map[uint64]bool       // the lives that the copy knows
	by     map[wor.ServerID]bool // the servers that have written down one of the other lives
	served bool                  // in one of them it answered a client
	seen   string                // what was checked already
}

func newLostLives(h *host, old *sim.Disk) *lostLives {
	l := &lostLives{h: h, since: h.c.ghost.tick(), kept: map[uint64]bool{}, by: map[wor.ServerID]bool{}}
	for _, life := range h.c.written(old, h.member.ID) {
		l.kept[life] = true
	}
	return l
}

// end determines which servers have written down a life that is lost from now on.
func (l *lostLives) end() {
	l.served = l.h.c.ghost.served[l.h.member.ID] > l.since
	if l.served {
		l.h.c.w.Mark(returned)
	}
	l.by = l.witnesses(func(life uint64) bool { return !l.kept[life] })
}

// witnesses returns the other servers that hold such a life of this one.
func (l *lostLives) witnesses(such func(life uint64) bool) map[wor.ServerID]bool {
	by := map[wor.ServerID]bool{}
	for _, o := range l.h.c.hosts {
		if o == l.h {
			continue
		}
		lives := l.h.c.written(o.node.Disk(), l.h.member.ID)
		if n := len(lives); n > 0 && such(lives[n-1]) {
			by[o.member.ID] = true
		}
	}
	return by
}

// The log of a server has records of what it has seen of servers, and of its own
// lives.
const (
	sightingRecord = 2
	sightingForm   = 1
)

// written are the lives of a server that a disk would have after a loss of power,
// in the order in which they were written.
func (c *cluster) written(d *sim.Disk, id wor.ServerID) (lives []uint64) {
	disk := d.Clone()
	disk.Crash(sim.KeepUpTo(0))
	log, err := wal.Open(env.Env{Disk: disk, Random: env.Seeded(1), Tracer: env.NoTrace{}}, logDir, wal.Options{Segment: 64 << 10})
	if err == nil {
		err = log.Replay(func(record []byte) error {
			if record[0] != sightingRecord {
				return nil
			}
			if len(record) != 34 || record[1] != sightingForm {
				return fmt.Errorf("a sighting of %d bytes", len(record))
			}
			if wor.ServerID(binary.LittleEndian.Uint64(record[2:])) == id {
				lives = append(lives, binary.LittleEndian.Uint64(record[18:]))
			}
			return nil
		})
	}
	if err != nil {
		c.w.Fail("a server's disk cannot be read", err)
	}
	return lives
}

// returned checks the server whose disk was restored. It must not serve if one of its
// present witnesses has written down a life that the disk has lost; and it must have
// witnesses. If it serves otherwise, and clients were answered from the lost part, then
// no process can know that, and the run is over.
func (c *cluster) returned(h *host) error {
	l := h.lost
	if l == nil || !h.gone || h.server == nil || h.node.Life() == nil {
		return nil
	}
	s := h.server.Status()
	serves := fmt.Sprint(h.node.Life().Number())
	for _, p := range s.Partitions {
		if !p.Unsure {
			serves += fmt.Sprintf(" %d.%d", p.Partition, p.Epoch)
		}
	}
	if s.RolledBack != "" || !h.sure() || serves == l.seen {
		return nil
	}
	l.seen = serves
	own := c.written(h.disk, h.member.ID)
	if len(own) == 0 {
		return fmt.Errorf("%s serves, and its disk has no life of it", h.node.Name())
	}
	present := own[len(own)-1]
	now := l.witnesses(func(life uint64) bool { return life == present })
	for id := range now {
		if l.by[id] {
			return fmt.Errorf("%s serves on a disk that was put back, and %v has written down a life that the disk has lost", h.node.Name(), id)
		}
	}
	for _, p := range s.Partitions {
		there := 0
		for _, m := range p.Members {
			if now[m.ID] {
				there++
			}
		}
		if !p.Unsure && there < len(p.Members)/2 {
			return fmt.Errorf("%s serves partition %d on a disk that was put back, and %d of %d members have written its life down", h.node.Name(), p.Partition, there, len(p.Members))
		}
	}
	c.over = c.over || l.served
	return nil
}

// alone restarts the program that many times while it reaches no other server, and then
// once more.
func (h *host) alone(times int) {
	const life = 100 * time.Millisecond
	var others []*sim.Node
	for _, o := range h.c.hosts {
		if o != h {
			others = append(others, o.node)
		}
	}
	if times > 0 {
		h.c.w.Mark("started alone on a disk that was put back")
		heal := h.c.w.Partition([]*sim.Node{h.node}, others, false)
		h.c.w.After(time.Duration(times)*life, heal)
	}
	h.restart(false, restartAfter)
	for i := range times {
		h.c.w.After(time.Duration(i+1)*life, func() { h.restart(false, restartAfter) })
	}
}
