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

// A disk that was restored to an earlier state has forgotten promises. The
// server on it cannot detect that alone, but others have seen it further. So
// each server reports its position to its peers: at start, when they write it
// down, and periodically, when they keep it in memory. Each start is a
// generation and draws a life, so that two that began at the same position can
// be distinguished. A server is mute in each epoch of a partition until enough
// of the epoch's other members have written its life down (witnesses), and it is
// permanently mute if any member has seen it further than its disk was.
//
// Enough is more than half of the others. Then no disk that has lost a life that
// served goes unnoticed: the lost life had at least half of the epoch's others as
// witnesses and the present one has more than half, so one server is a witness of
// both, and it denies the present life, because the lost one is not in its past.
//
// Of 2m others, however, a majority of the members needs only m, and a partition
// must serve when the rest are down. So a server with m witnesses waits for one
// more for WitnessWait, and then serves. No rule without that gap lets every
// majority serve: take a server that served beside one half of the others alone,
// was put back, and now meets the other half alone. Neither it nor they have
// received anything of the lost life, and had it never been, they would have to
// serve. Such a disk is denied when a server of the first half comes back.
//
// Both reports and answers are signed (Key): a server speaks only for itself,
// and claims of others about it, such as a client's hello, change nothing here.
// A witness whose sighting is not in the past of the reporting server keeps the
// sighting and continues to deny, whatever reports follow. A server that is
// denied writes that down, because the witness may be gone when it starts
// again; an operator must replace it.
//
// Within one generation, a disk older than the last report is noticed. In a
// partition of one server nothing is.

// place is a server's position in its log.
type place struct{ generation, position uint64 }

func (a place) less(b place) bool {
	return a.generation < b.generation || a.generation == b.generation && a.position < b.position
}

func (a place) String() string { return fmt.Sprintf("%d/%d", a.generation, a.position) }

// sighting is the furthest position at which a server was seen.
type sighting struct {
	place
	life uint64
}

// report is a server's report about itself: its position; the position of its
// disk when it was opened; and the last earlier life that the disk knows of.
type report struct {
	now    sighting
	start  uint64 // position
	before sighting
}

// verdict is the answer to a report: the earlier sighting of the server. Life
// is that of the report, so that the answer is for this life only.
type verdict struct {
	about wor.ServerID
	life  uint64
	seen  sighting
}

// The forms of a report, a verdict and a record of a sighting, and the lengths.
const (
	reportForm  = 2
	verdictForm = 3
	recordForm  = 1
	sightingLen = 3 * 8
	reportLen   = 1 + sightingLen + 8 + sightingLen
	verdictLen  = 1 + 8 + 8 + sightingLen
	recordLen   = 1 + 8 + sightingLen

	reportPurpose  = "ashlar worm report"
	verdictPurpose = "ashlar worm verdict"
)

// seenMax bounds the servers that are not members whose sightings a server
// keeps.
const seenMax = 4096

func appendSighting(b []byte, s sighting) []byte {
	le := binary.LittleEndian
	return le.AppendUint64(le.AppendUint64(le.AppendUint64(b, s.generation), s.life), s.position)
}

func readSighting(b []byte) sighting {
	le := binary.LittleEndian
	return sighting{place{le.Uint64(b), le.Uint64(b[16:])}, le.Uint64(b[8:])}
}

func encodeReport(r report) []byte {
	b := appendSighting([]byte{reportForm}, r.now)
	return appendSighting(binary.LittleEndian.AppendUint64(b, r.start), r.before)
}

func decodeReport(b []byte) (report, error) {
	if len(b) != reportLen || b[0] != reportForm {
		return report{}, fmt.Errorf("%w: a report of %d bytes", errRecord, len(b))
	}
	return report{readSighting(b[1:]), binary.LittleEndian.Uint64(b[25:]), readSighting(b[33:])}, nil
}

func encodeVerdict(v verdict) []byte {
	b := binary.LittleEndian.AppendUint64([]byte{verdictForm}, uint64(v.about))
	return appendSighting(binary.LittleEndian.AppendUint64(b, v.life), v.seen)
}

func decodeVerdict(b []byte) (verdict, error) {
	if len(b) != verdictLen || b[0] != verdictForm {
		return verdict{}, fmt.Errorf("%w: a verdict of %d bytes", errRecord, len(b))
	}
	le := binary.LittleEndian
	return verdict{wor.ServerID(le.Uint64(b[1:])), le.Uint64(b[9:]), readSighting(b[17:])}, nil
}

func encodeSighting(id wor.ServerID, s sighting) []byte {
	return appendSighting(binary.LittleEndian.AppendUint64([]byte{recordForm}, uint64(id)), s)
}

func decodeSighting(b []byte) (id wor.ServerID, s sighting, err error) {
	if len(b) != recordLen || b[0] != recordForm {
		return 0, s, fmt.Errorf("%w: a sighting of %d bytes", errRecord, len(b))
	}
	return wor.ServerID(binary.LittleEndian.Uint64(b[1:])), readSighting(b[9:]), nil
}

// witness handles a peer's report and answers with the earlier sighting. The
// answer leaves when the report is durable.
func (c *conn) witness(id uint64, payload []byte) error {
	s := c.s
	from, text, err := signed(reportPurpose, s.opt.Genesis.Cluster, payload)
	var r report
	if err == nil {
		r, err = decodeReport(text)
	}
	if err != nil || from == s.id {
		s.mark("worm/node unsigned report")
		return c.now.Answer(id, wire.CodeLimit, []byte("a server reports where it stands itself, and signs that"))
	}
	if s.rolledBack != "" {
		return c.now.Answer(id, wire.CodeFailed, []byte(s.rolledBack)) // it may have seen more
	}
	seen := s.seen[from]
	switch {
	case r.further(seen): // the evidence stays
	case r.now.generation > seen.generation:
		s.note(from, r.now)
	case r.now.generation == seen.generation && seen.less(r.now.place):
		s.seen[from] = r.now
	}
	v := verdict{about: from, life: r.now.life, seen: seen}
	return c.outlet().Answer(id, wire.CodeOK, s.key.sign(verdictPurpose, s.opt.Genesis.Cluster, encodeVerdict(v)))
}

// note writes a sighting down.
func (s *Server) note(id wor.ServerID, now sighting) {
	s.remember(id, now)
	s.stage(recordWitness, 0, encodeSighting(id, now))
}

// remember keeps a sighting. Anyone can make keys and report with them, which
// can only fill the table for servers that are not members.
func (s *Server) remember(id wor.ServerID, now sighting) {
	if _, known := s.seen[id]; !known && len(s.seen) >= seenMax {
		for _, old := range sortedKeys(s.seen) {
			if old != s.id && !s.isPeer(old) {
				delete(s.seen, old)
				break
			}
		}
	}
	s.seen[id] = now
}

// isPeer reports whether a server is a member of a partition, as far as is
// known here.
func (s *Server) isPeer(id wor.ServerID) bool {
	return slices.ContainsFunc(s.parts, func(p *part) bool { return p.group.Config().Index(id) >= 0 })
}

// begin writes down that this life has begun, and remembers the previous one.
func (s *Server) begin() {
	s.before = s.seen[s.id]
	s.note(s.id, sighting{place{s.generation, s.committed}, s.life})
	s.begun = s.appended
}

// ask is a peer to which this server reports its position.
type ask struct {
	member wor.Member
	under  bool   // way
	sure   bool   // it has answered, and has not seen this server further
	told   uint64 // position
}

// Waits between attempts to reach peers that have not answered yet.
const askMin = 20 * time.Millisecond

// regroup finds the peers after the members of a partition have changed.
func (s *Server) regroup() {
	var asks []*ask
	for _, p := range s.parts {
		if e := p.group.Epoch(); e != p.judged && p.group.Config().Index(s.id) >= 0 && !s.opt.Alone {
			p.mute, p.judged, p.since = true, e, s.opt.Env.Clock.Now()
		}
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
	s.judge()
}

// judge decides for which partitions this server may answer. Within an epoch,
// that is never revoked: what the server learned in this life it does not forget
// in it.
func (s *Server) judge() {
	now := s.opt.Env.Clock.Now()
	s.wheel.remove(&s.judging)
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
		// That many others must be up anyway before anything can be decided.
		least := wor.Majority(n) - 1
		enough := min((n+1)/2, n-1) // more than half of the others
		if c.Index(s.id) < 0 {
			least = max(least, 1) // as a member it would be one of more
			enough = least
		}
		p.mute = sure < least
		if wait := p.since.Add(s.opt.WitnessWait); !p.mute && sure < enough && now < wait {
			p.mute = true
			if !s.judging.linked() || wait < s.judging.at {
				s.wheel.remove(&s.judging)
				s.wheel.add(&s.judging, wait)
			}
		} else if !p.mute && sure < enough {
			s.mark("worm/node fewest witnesses")
		}
	}
}

// witnesses returns the peers that have written this life down, and have not
// seen the server further than its disk.
func (s *Server) witnesses() (list []wor.ServerID) {
	for _, a := range s.asks {
		if a.sure {
			list = append(list, a.member.ID)
		}
	}
	return list
}

// tellPeers reports this server's position to the peers that do not know it
// yet.
func (s *Server) tellPeers() {
	if s.draining || s.failed != nil || s.rolledBack != "" {
		return
	}
	if s.committed < s.begun {
		// A peer that learned of this life before the disk has it would deny
		// the next one.
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
		payload := s.key.sign(reportPurpose, s.opt.Genesis.Cluster, encodeReport(s.report(position)))
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

// regular schedules the next report, when there is something to report.
func (s *Server) regular() {
	if s.told != s.committed && !s.tell.linked() && len(s.asks) > 0 {
		s.wheel.add(&s.tell, s.opt.Env.Clock.Now().Add(s.opt.TellEvery))
	}
}

// heard handles a peer's answer.
func (s *Server) heard(a *ask, position uint64, answer []byte, err error) {
	s.mu.Lock()
	defer s.unlock()
	a.under = false
	if err != nil || s.closed {
		return
	}
	from, text, err := signed(verdictPurpose, s.opt.Genesis.Cluster, answer)
	if err != nil || from != a.member.ID {
		s.mark("worm/node unsigned verdict")
		s.trouble = fmt.Sprintf("what answers at %s does not prove that it is server %v", a.member.Addr, a.member.ID)
		return
	}
	v, err := decodeVerdict(text)
	if err != nil || v.about != s.id || v.life != s.life {
		return
	}
	if s.report(position).further(v.seen) {
		s.behind(a.member, v.seen.place)
		return
	}
	a.sure, a.told = true, max(a.told, position)
	s.judge()
}

// report is the server's report when its log is at position.
func (s *Server) report(position uint64) report {
	return report{sighting{place{s.generation, position}, s.life}, s.start.position, s.before}
}

// further reports whether the sighting of the reporting server is not in its
// own past.
func (r report) further(seen sighting) bool {
	switch {
	case seen.generation == 0:
		return false
	case seen.generation == r.now.generation:
		return seen.life != r.now.life
	case seen.generation == r.before.generation:
		// The last life that the disk knows of. Generations may lie between it and
		// this one, of starts that ended before they were written down.
		return seen.life != r.before.life || r.start < seen.position
	}
	// Of these others the disk knows nothing, though each wrote itself down before
	// it reported anything.
	return seen.generation > r.before.generation
}

// behind makes the server mute permanently, or until a restore: a member has
// seen that the disk is not up to date. It writes that down and warns the
// operator.
func (s *Server) behind(by wor.Member, seen place) {
	if s.rolledBack != "" {
		return
	}
	s.mark("worm/node rolled back")
	s.rolledBack = fmt.Sprintf("the disk is older than it was: member %s (%v) has seen this server at %v, and it began this time at %v",
		by.Name, by.ID, seen, s.start)
	s.stage(recordBehind, 0, []byte(s.rolledBack))
	s.warn("MUTE: " + s.rolledBack + ". Replace this server; if the whole cluster was put back from a backup, stop it and see 'ashlard restore --help'")
}

// warn reports to the operator, when the lock is free.
func (s *Server) warn(text string) {
	if f := s.opt.Warn; f != nil {
		s.later = append(s.later, func() { f(text) })
	}
}

func sortedKeys(m map[wor.ServerID]sighting) []wor.ServerID { return slices.Sorted(maps.Keys(m)) }
