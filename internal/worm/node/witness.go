// SPDX-License-Identifier: Apache-2.0

package node

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/wire"
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
// A peer keeps one sighting of a server, and answers each report with it. The
// server compares it with all the lives that its disk knows of (lives): if the
// sighting is not among them, the disk has lost something, and the server is
// denied. Otherwise it reports again and names the sighting, and only then does
// the peer write the new life down in its place. So only a life whose disk has
// everything that was seen replaces a sighting, and every life that a
// peer has ever written down is in the past of the one that it holds. However
// often a disk that was put back starts while its peers cannot be reached, it
// does not learn of the life that it has lost, and cannot name it.
//
// Enough is more than half of the others. Then no disk that has lost a life that
// served goes unnoticed: the lost life had at least half of the epoch's others as
// witnesses and the present one has more than half, so one server is a witness of
// both, and that server holds a sighting which the present disk does not know.
//
// Of 2m others, however, a majority of the members needs only m, and a partition
// must serve when the rest are down. So a server that has got m witnesses waits for
// one more for WitnessWait, and then serves. No rule without that gap lets every
// majority serve: take a server that served beside one half of the others alone,
// was put back, and now meets the other half alone. Neither it nor they have
// received anything of the lost life, and had it never been, they would have to
// serve. Such a disk is denied when a server of the first half comes back, which
// holds the lost life until then.
//
// Both reports and answers are signed (Key): a server speaks only for itself,
// and claims of others about it, such as a client's hello, change nothing here.
// A server that is denied writes that down, because the witness may be gone when
// it starts again; an operator must replace it.
//
// A life is written down by its witnesses, its position is not: a disk that
// lacks the end of a life, and not all of it, is noticed only if the end was
// reported to a peer that has not restarted since. In a partition of one server
// nothing is noticed.

// place is a server's position in its log.
type place struct{ generation, position uint64 }

func (a place) less(b place) bool {
	return a.generation < b.generation || a.generation == b.generation && a.position < b.position
}

func (a place) String() string { return fmt.Sprintf("%d/%d", a.generation, a.position) }

// sighting is the furthest position at which a peer has seen a server.
type sighting struct {
	place
	life uint64
}

// report is a server's report about itself: its position, and the sighting by
// the peer that it has found in its past, if any. That is the only one which the
// report may replace.
type report struct{ now, knows sighting }

// verdict is the answer to a report: the earlier sighting of the server. To is
// the report, so that the answer is to this one only: a server may take one as
// the confirmation that its life was written down, and another not.
type verdict struct {
	about wor.ServerID
	to    digest
	seen  sighting
}

// digest is that of a report.
type digest [sha256.Size]byte

func (r report) digest() digest { return sha256.Sum256(encodeReport(r)) }

// The forms of a report, a verdict and a record of a sighting, and the lengths.
const (
	reportForm  = 3
	verdictForm = 4
	recordForm  = 1
	sightingLen = 3 * 8
	reportLen   = 1 + 2*sightingLen
	verdictLen  = 1 + 8 + sha256.Size + sightingLen
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

// checkForm returns an error if b is not of that form and length. Servers of
// other versions send other forms.
func checkForm(what string, b []byte, form byte, n int) error {
	switch {
	case len(b) == 0 || b[0] == form && len(b) != n:
		return fmt.Errorf("%w: a %s of %d bytes", errRecord, what, len(b))
	case b[0] != form:
		return fmt.Errorf("%w: want a %s of format %d, got %d", errRecord, what, form, b[0])
	}
	return nil
}

func encodeReport(r report) []byte {
	return appendSighting(appendSighting([]byte{reportForm}, r.now), r.knows)
}

func decodeReport(b []byte) (report, error) {
	if err := checkForm("report", b, reportForm, reportLen); err != nil {
		return report{}, err
	}
	return report{readSighting(b[1:]), readSighting(b[1+sightingLen:])}, nil
}

func encodeVerdict(v verdict) []byte {
	b := binary.LittleEndian.AppendUint64([]byte{verdictForm}, uint64(v.about))
	return appendSighting(append(b, v.to[:]...), v.seen)
}

func decodeVerdict(b []byte) (verdict, error) {
	if err := checkForm("verdict", b, verdictForm, verdictLen); err != nil {
		return verdict{}, err
	}
	v := verdict{about: wor.ServerID(binary.LittleEndian.Uint64(b[1:])), seen: readSighting(b[9+sha256.Size:])}
	copy(v.to[:], b[9:])
	return v, nil
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

// A report costs a server a signature to verify and one to make, and that of a
// new life a record. Anybody can make a key and report with it, and can send the
// same report again. So a connection is limited in its reports, and so are all
// together whose signers are not members. A server that is about to join reports
// before its peers know it for a member: it competes with strangers, and asks
// again.
const (
	reportEvery   = 125 * time.Millisecond // for one connection
	reportBurst   = 16
	strangerEvery = time.Second / 64 // for all that are not members
	strangerBurst = 64
)

// witness handles a peer's report and answers with the earlier sighting. The
// answer leaves when the report is durable.
func (c *conn) witness(id uint64, payload []byte) error {
	s := c.s
	now, claimed := s.opt.Env.Clock.Now(), signer(payload)
	member := s.registers.isPeer(claimed)
	switch {
	case s.unable() || s.pressed(c),
		!c.reports.take(now, reportEvery, reportBurst),
		!member && !s.witness.strangers.take(now, strangerEvery, strangerBurst):
		s.mark("worm/node report: busy")
		return c.now.Answer(id, wire.CodeBusy, nil)
	}
	if s.witness.denial() != "" {
		return c.now.Answer(id, wire.CodeFailed, []byte(s.witness.denial())) // it may have seen more
	}
	if member {
		verdict, refuse := s.witness.repeat(claimed, payload, now)
		switch {
		case verdict != nil:
			return c.outlet().Answer(id, wire.CodeOK, verdict)
		case refuse:
			s.mark("worm/node report: busy")
			return c.now.Answer(id, wire.CodeBusy, nil)
		}
	}
	from, text, err := signed(reportPurpose, s.opt.Genesis.Cluster, payload)
	if err != nil {
		return fmt.Errorf("a server must sign its report: %w", err)
	}
	r, err := decodeReport(text)
	if err == nil && from == s.id {
		err = errors.New("a server must not report to itself")
	}
	if err != nil {
		s.mark("worm/node unsigned report")
		return c.now.Answer(id, wire.CodeLimit, []byte(err.Error()))
	}
	seen, fresh := s.witness.take(from, r)
	if fresh {
		s.witness.returned(from, now)
	}
	v := verdict{about: from, to: r.digest(), seen: seen}
	answer := s.key.sign(verdictPurpose, s.opt.Genesis.Cluster, encodeVerdict(v))
	if member {
		s.witness.answered(from, r, fresh, payload, answer)
	}
	return c.outlet().Answer(id, wire.CodeOK, answer)
}

// take records a server's report about itself. It returns the earlier sighting,
// and whether the report is new; a repeated report never is.
func (w *witness) take(from wor.ServerID, r report) (seen sighting, fresh bool) {
	seen = w.seen[from]
	switch {
	case r.replaces(seen):
		w.note(from, r.now)
		return seen, true
	case r.continues(seen):
		w.seen[from] = r.now
		return seen, true
	}
	return seen, false
}

// replaces reports whether the report takes the place of a sighting of another
// life: there is none, or the server has found exactly this one in its past.
func (r report) replaces(seen sighting) bool {
	return !r.sameLife(seen) && (seen == (sighting{}) || seen == r.knows)
}

// sameLife reports whether a sighting is of the same life as the report.
func (r report) sameLife(seen sighting) bool {
	return seen.generation == r.now.generation && seen.life == r.now.life
}

// continues reports whether the report is of the life that was seen, and further.
func (r report) continues(seen sighting) bool { return r.sameLife(seen) && seen.less(r.now.place) }

// note stores a sighting in the log.
func (w *witness) note(id wor.ServerID, now sighting) {
	w.redo(id, now)
	w.s.commits.stage(recordWitness, 0, encodeSighting(id, now))
}

// redo repeats a sighting that was written down. One of the server itself is a
// life of its own.
func (w *witness) redo(id wor.ServerID, now sighting) {
	if id == w.s.id {
		w.lives = w.lives.add(now)
		return
	}
	w.remember(id, now)
}

// remember keeps a sighting. Anyone can make keys and report with them, which
// can only fill the table for servers that are not members.
func (w *witness) remember(id wor.ServerID, now sighting) {
	s := w.s
	if _, known := w.seen[id]; !known && len(w.seen) >= seenMax {
		for _, old := range sortedKeys(w.seen) {
			if !s.registers.isPeer(old) {
				delete(w.seen, old)
				break
			}
		}
	}
	w.seen[id] = now
}

// begin writes down that this life has begun, and begins to report.
func (w *witness) begin() {
	s := w.s
	w.tell.due, w.judging.due = w.tellPeers, w.judge
	w.note(s.id, sighting{place{s.generation, s.commits.durable()}, w.life})
	w.begun = s.commits.last()
	w.regroup()
}

// witness is what this server has seen of others, and what others have seen of
// it. Server.mu guards it.
type witness struct {
	s             *Server
	life          uint64 // drawn for this run: distinguishes two lives of one generation
	start         place  // where the disk was when it was opened
	lives         lives  // of this server, as its disk knows them
	begun         uint64 // number of the record which shows that this life has begun
	seen          map[wor.ServerID]sighting
	strangers     bucket                     // limits reports of servers that are not members
	last          map[wor.ServerID]*repeated // by member
	postponed     bool                       // reports wait until this life is on the disk
	asks          []*ask
	told          uint64        // the position of the last reports
	pause         time.Duration // between attempts to reach peers
	tell, judging entry         // in the wheel: to report; WitnessWait is over for a partition
	// rolledBack is a member's evidence that the disk is not up to date, or "".
	rolledBack string
}

func newWitness(s *Server, life uint64) witness {
	return witness{s: s, life: life, seen: map[wor.ServerID]sighting{}, last: map[wor.ServerID]*repeated{}, pause: askMin}
}

// from sets where the disk was when it was opened.
func (w *witness) from(start place) { w.start = start }

// denial returns why the server is mute permanently, "" if it is not.
func (w *witness) denial() string { return w.rolledBack }

// forget drops all sightings, and what was written down against this server.
func (w *witness) forget() {
	clear(w.seen)
	w.lives = nil
	w.rolledBack = ""
}

// redoDenial repeats a denial that was written down.
func (w *witness) redoDenial(denial string) { w.rolledBack = denial }

// save passes on the records of what is known.
func (w *witness) save(record func(kind byte, record []byte)) {
	for _, life := range w.lives {
		record(recordWitness, encodeSighting(w.s.id, life))
	}
	for _, id := range sortedKeys(w.seen) {
		record(recordWitness, encodeSighting(id, w.seen[id]))
	}
	if w.rolledBack != "" {
		record(recordBehind, []byte(w.rolledBack))
	}
}

// stop ends the reports.
func (w *witness) stop() { w.s.wheel.remove(&w.tell) }

// regroup finds the peers after the members of a partition have changed.
func (w *witness) regroup() {
	s := w.s
	var asks []*ask
	for _, p := range s.registers.all() {
		if e := p.group.Epoch(); e != p.judged && p.group.Config().Index(s.id) >= 0 && !s.opt.Alone {
			p.mute, p.judged, p.since = true, e, 0
		}
		for _, m := range p.group.Config().Members {
			if m.ID == s.id || slices.ContainsFunc(asks, func(a *ask) bool { return a.member == m }) {
				continue
			}
			a := &ask{member: m, patience: s.retryMax()}
			for _, old := range w.asks {
				if old.member.ID == m.ID {
					a.knows, a.sure, a.told, a.heard = old.knows, old.sure, old.told, old.heard
				}
			}
			asks = append(asks, a)
		}
	}
	w.asks = asks
	s.wheel.remove(&w.tell)
	s.wheel.add(&w.tell, s.opt.Env.Clock.Now())
	w.judge()
}

// judge decides for which partitions this server may answer. Within an epoch,
// that is never revoked: what the server learned in this life it does not forget
// in it.
func (w *witness) judge() {
	s := w.s
	now := s.opt.Env.Clock.Now()
	s.wheel.remove(&w.judging)
	for _, p := range s.registers.all() {
		if !p.mute {
			continue
		}
		c := p.group.Config()
		n, sure := len(c.Members), 0
		for _, m := range c.Members {
			if slices.ContainsFunc(w.asks, func(a *ask) bool { return a.sure && a.member.ID == m.ID }) {
				sure++
			}
		}
		// A majority needs that many other servers before it can decide anything.
		least := wor.Majority(n) - 1
		enough := min((n+1)/2, n-1) // more than half of the others
		if c.Index(s.id) < 0 {
			least = max(least, 1) // with this server, there would be one member more
			enough = least
		}
		p.mute = sure < least
		if !p.mute && p.since == 0 {
			p.since = now
			w.hurry(func(*ask) bool { return true }) // in WitnessWait they are tried several times
		}
		if wait := p.since.Add(s.opt.WitnessWait); !p.mute && sure < enough && now < wait {
			p.mute = true
			if !w.judging.linked() || wait < w.judging.at {
				s.wheel.remove(&w.judging)
				s.wheel.add(&w.judging, wait)
			}
		} else if !p.mute && sure < enough {
			s.mark("worm/node fewest witnesses")
		}
	}
}

// witnesses returns the peers that have written this life down.
func (w *witness) witnesses() (list []wor.ServerID) {
	for _, a := range w.asks {
		if a.sure {
			list = append(list, a.member.ID)
		}
	}
	return list
}

// tellPeers reports this server's position to the peers that do not know it
// yet.
func (w *witness) tellPeers() {
	s := w.s
	if s.drain.underway() || s.failed != nil || w.rolledBack != "" {
		return
	}
	if s.commits.durable() < w.begun {
		// A peer that learned of this life before it is on the disk would deny
		// the next one. On a full disk that may take long.
		w.postponed = true
		return
	}
	unsure := false
	now := s.opt.Env.Clock.Now()
	var last report
	var payload []byte // last, signed
	for _, a := range w.asks {
		unsure = unsure || !a.sure
		if a.waiting > 0 && (a.sure || now < a.again) || a.sure && a.told == s.commits.durable() {
			continue
		}
		a.waiting++
		a.again = now.Add(s.retryMax())
		r := report{sighting{place{s.generation, s.commits.durable()}, w.life}, a.knows}
		if payload == nil || r != last { // most members get the same report
			last, payload = r, s.key.sign(reportPurpose, s.opt.Genesis.Cluster, encodeReport(r))
		}
		sure, patience, payload := a.sure, a.patience, payload
		s.later = append(s.later, func() {
			s.serial.Do(func() {
				if !sure && s.transport.hurry(a.member, patience) {
					s.mu.Lock()
					a.patience = min(2*patience, patienceMax)
					s.mu.Unlock()
				}
				s.transport.Invoke(a.member, wor.ServiceWitness, payload, s.opt.TellEvery*2,
					func(b []byte, err error) { w.heard(a, r, b, err) })
			})
		})
	}
	w.told = s.commits.durable()
	if unsure {
		s.wheel.add(&w.tell, s.opt.Env.Clock.Now().Add(w.pause))
		w.pause = min(2*w.pause, s.opt.TellEvery, s.retryMax())
	}
}

// committed begins the reports that had to wait for the disk.
func (w *witness) committed() {
	s := w.s
	if w.postponed && s.commits.durable() >= w.begun {
		w.postponed = false
		s.wheel.remove(&w.tell)
		s.wheel.add(&w.tell, s.opt.Env.Clock.Now())
	}
}

// regular schedules the next report, when there is something to report.
func (w *witness) regular() {
	s := w.s
	if w.told != s.commits.durable() && !w.tell.linked() && len(w.asks) > 0 {
		s.wheel.add(&w.tell, s.opt.Env.Clock.Now().Add(s.opt.TellEvery))
	}
}

// heard handles a peer's answer to a report.
func (w *witness) heard(a *ask, r report, answer []byte, err error) {
	s := w.s
	s.mu.Lock()
	defer s.unlock()
	a.waiting--
	if errors.Is(err, wor.ErrLimit) {
		// The peer runs another version.
		s.trouble = fmt.Sprintf("member %s (%v) refuses the report of this server: %v", a.member.Name, a.member.ID, err)
	}
	if err != nil || s.closed {
		return
	}
	from, text, err := signed(verdictPurpose, s.opt.Genesis.Cluster, answer)
	if err != nil || from != a.member.ID {
		s.mark("worm/node unsigned verdict")
		s.trouble = fmt.Sprintf("the process at %s does not prove that it is server %v", a.member.Addr, a.member.ID)
		return
	}
	v, err := decodeVerdict(text)
	if err != nil {
		s.trouble = fmt.Sprintf("member %s (%v): %v", a.member.Name, a.member.ID, err)
		return
	}
	if v.about != s.id || v.to != r.digest() {
		return
	}
	switch {
	case !w.lives.past(v.seen):
		w.behind(a.member, v.seen.place)
	case r.sameLife(v.seen) || r.replaces(v.seen):
		a.sure, a.told = true, max(a.told, r.now.position)
		w.judge()
	case a.knows != v.seen:
		a.knows, a.again = v.seen, 0
		s.wheel.remove(&w.tell)
		s.wheel.add(&w.tell, s.opt.Env.Clock.Now())
	}
}

// behind makes the server mute permanently, or until a restore: a member has
// seen that the disk is not up to date. It writes that down and warns the
// operator.
func (w *witness) behind(by wor.Member, seen place) {
	s := w.s
	if w.rolledBack != "" {
		return
	}
	s.mark("worm/node rolled back")
	w.rolledBack = fmt.Sprintf("the disk is an old copy: member %s (%v) has seen this server at %v, but it started at %v",
		by.Name, by.ID, seen, w.start)
	s.commits.stage(recordBehind, 0, []byte(w.rolledBack))
	s.warn("MUTE: " + w.rolledBack + ". Replace this server; if the whole cluster was put back from a backup, stop it and see 'ashlar worm restore --help'")
}

// warn reports to the operator, when the lock is free.
func (s *Server) warn(text string) {
	if f := s.opt.Warn; f != nil {
		s.later = append(s.later, func() { f(text) })
	}
}

func sortedKeys(m map[wor.ServerID]sighting) []wor.ServerID { return slices.Sorted(maps.Keys(m)) }
