package node

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/worm/wire"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// A disk that was put back to what it was earlier has forgotten promises. The
// server on it cannot know that by itself, but others have seen it further. So
// each server tells its peers where it stands: at start, when they write it down,
// and now and then, when they remember it. Each start is a generation and draws a
// life, so that two that began at the same place can be told apart. A server that
// has started is mute for a partition until so many of its other members have
// answered that they are a majority with it, and if any of them, or a client, has
// seen it further than its disk was, it is mute for good.
//
// That finds a disk that lacks a whole generation, as long as one of those who
// wrote it down is among those who answer; within one generation, it finds what is
// older than the last that they were told.
//
// It does not find a disk that was put back, if the server on it ended after a
// peer had written its new life down, in place of the one before, and before the
// peer's answer was: the next life finds its own words there. Who puts disks back
// must not rely on this.

// place is where a server stands in its log.
type place struct{ generation, position uint64 }

func (a place) less(b place) bool {
	return a.generation < b.generation || a.generation == b.generation && a.position < b.position
}

func (a place) String() string { return fmt.Sprintf("%d/%d", a.generation, a.position) }

// sighting is the furthest that a server was seen.
type sighting struct {
	place
	life uint64
}

// What peers say to each other: a form, who it is, and a sighting. The answer has
// the one that was there before, or zeros.
const (
	witnessForm = 1
	sightingLen = 1 + 4*8
)

// seenMax bounds how many servers one remembers.
const seenMax = 4096

func encodeSighting(id wor.ServerID, s sighting) []byte {
	le := binary.LittleEndian
	b := le.AppendUint64([]byte{witnessForm}, uint64(id))
	return le.AppendUint64(le.AppendUint64(le.AppendUint64(b, s.generation), s.life), s.position)
}

func decodeSighting(b []byte) (id wor.ServerID, s sighting, err error) {
	if len(b) != sightingLen || b[0] != witnessForm {
		return 0, s, fmt.Errorf("%w: a sighting of %d bytes", errRecord, len(b))
	}
	le := binary.LittleEndian
	s = sighting{place{le.Uint64(b[9:]), le.Uint64(b[25:])}, le.Uint64(b[17:])}
	return wor.ServerID(le.Uint64(b[1:])), s, nil
}

// witness hears where a peer stands, and answers what was seen of it before. That
// leaves when it is written down.
func (c *conn) witness(id uint64, payload []byte) error {
	s := c.s
	from, now, err := decodeSighting(payload)
	if err != nil || !c.hello.Peer || c.hello.From != uint64(from) || from == s.id {
		return c.now.Answer(id, wire.CodeLimit, []byte("a server tells where it stands itself"))
	}
	if s.rolledBack != "" {
		return c.now.Answer(id, wire.CodeFailed, []byte(s.rolledBack)) // it may have seen more
	}
	before, known := s.seen[from]
	if !known && len(s.seen) >= seenMax {
		return c.now.Answer(id, wire.CodeLimit, []byte("too many servers"))
	}
	if now.generation > before.generation {
		s.note(from, now)
	} else if now.generation == before.generation && now.life == before.life && before.less(now.place) {
		s.seen[from] = now
	}
	return c.outlet().Answer(id, wire.CodeOK, encodeSighting(from, before))
}

// note writes a sighting down.
func (s *Server) note(id wor.ServerID, now sighting) {
	s.seen[id] = now
	s.stage(recordWitness, 0, encodeSighting(id, now))
}

// begin writes down that this life has begun. What was written before is told
// first.
func (s *Server) begin() {
	s.before = s.seen[s.id]
	s.note(s.id, sighting{place{s.generation, s.committed}, s.life})
	s.begun = s.appended
}

// ask is a peer that is told where this server stands.
type ask struct {
	member wor.Member
	under  bool   // way
	sure   bool   // it has answered, and has not seen this server further
	told   uint64 // position
}

// Waits between attempts to reach peers that have not answered yet.
const askMin = 20 * time.Millisecond

// regroup looks who the peers are, after the members of a partition have changed.
func (s *Server) regroup() {
	var asks []*ask
	for _, p := range s.parts {
		for _, m := range p.group.Config().Members {
			if m.ID == s.id || slices.ContainsFunc(asks, func(a *ask) bool { return a.member == m }) {
				continue
			}
			a := &ask{member: m}
			for _, old := range s.asks {
				if old.member.ID == m.ID {
					a.sure, a.told = old.sure, old.told
				}
			}
			asks = append(asks, a)
		}
	}
	s.asks = asks
	s.wheel.remove(&s.tell)
	s.wheel.add(&s.tell, s.opt.Env.Clock.Now())
}

// judge looks for which partitions this server may answer. What it has learnt in
// this life it will not forget in it: that is never taken back.
func (s *Server) judge() {
	for _, p := range s.parts {
		if !p.mute {
			continue
		}
		c := p.group.Config()
		n, sure := len(c.Members), 0
		for _, m := range c.Members {
			if slices.ContainsFunc(s.asks, func(a *ask) bool { return a.sure && a.member.ID == m.ID }) {
				sure++
			}
		}
		// That many others must be up in any case, if anything is to be decided.
		need := wor.Majority(n) - 1
		if c.Index(s.id) < 0 {
			need = max(need, 1) // as a member it would be one of more
		}
		p.mute = sure < need
	}
}

// tellPeers tells those who do not know yet where this server stands.
func (s *Server) tellPeers() {
	if s.draining || s.failed != nil || s.rolledBack != "" {
		return
	}
	if s.committed < s.begun {
		// Who is told of this life before the disk knows of it would call the next
		// one a stranger.
		s.wheel.add(&s.tell, s.opt.Env.Clock.Now().Add(wheelTick))
		return
	}
	unsure := false
	for _, a := range s.asks {
		unsure = unsure || !a.sure
		if a.under || a.sure && a.told == s.committed {
			continue
		}
		a.under = true
		position := s.committed
		payload := encodeSighting(s.id, sighting{place{s.generation, position}, s.life})
		s.later = append(s.later, func() {
			s.serial.Do(func() {
				s.transport.Invoke(a.member, wor.ServiceWitness, payload, s.opt.TellEvery*2,
					func(b []byte, err error) { s.heard(a, position, b, err) })
			})
		})
	}
	s.told = s.committed
	if unsure {
		s.wheel.add(&s.tell, s.opt.Env.Clock.Now().Add(s.pause))
		s.pause = min(2*s.pause, s.opt.TellEvery)
	}
}

// regular has peers told after a while, when there is something to tell.
func (s *Server) regular() {
	if s.told != s.committed && !s.tell.linked() && len(s.asks) > 0 {
		s.wheel.add(&s.tell, s.opt.Env.Clock.Now().Add(s.opt.TellEvery))
	}
}

// heard is a peer's answer.
func (s *Server) heard(a *ask, position uint64, answer []byte, err error) {
	s.mu.Lock()
	defer s.unlock()
	a.under = false
	if err != nil || s.closed {
		return
	}
	id, seen, err := decodeSighting(answer)
	if err != nil || id != s.id {
		return
	}
	if s.further(seen) {
		s.behind("server "+a.member.ID.String(), seen.place)
		return
	}
	a.sure, a.told = true, max(a.told, position)
	s.judge()
}

// further says that what was seen of this server is none of its own past.
func (s *Server) further(seen sighting) bool {
	switch {
	case seen.generation == 0:
		return false
	case seen.generation == s.generation:
		return seen.life != s.life
	case seen.generation == s.before.generation:
		// The last life that the disk knows of. Generations may lie between it and
		// this one, of starts that ended before they were written down.
		return seen.life != s.before.life || s.start.position < seen.position
	}
	// Of these others the disk knows nothing, though each wrote itself down before
	// it told anybody.
	return seen.generation > s.before.generation
}

// behind has the server be mute for good: the disk is not the one that others
// have seen. That is written down.
func (s *Server) behind(who string, seen place) {
	if s.rolledBack != "" {
		return
	}
	s.mark("worm/node rolled back")
	s.rolledBack = fmt.Sprintf("the disk is older than it was: %s has seen it at %v, it began this time at %v", who, seen, s.start)
	s.stage(recordBehind, 0, []byte(s.rolledBack))
}

func sortedKeys(m map[wor.ServerID]sighting) []wor.ServerID { return slices.Sorted(maps.Keys(m)) }
