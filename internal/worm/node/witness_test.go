// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/group"
	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// peer is a guest that is a server.
func (d *desk) peer(k Key) *guest {
	g := d.connect()
	g.say(func(e *wire.Encoder) {
		e.Hello(&wire.Hello{Version: wire.Version, Peer: true, Cluster: testCluster, From: uint64(k.ID()), To: d.s.ID()})
	})
	g.one(wire.TypeWelcome)
	return g
}

// reports sends a report of a peer's position to the server.
func (g *guest) reports(k Key, r report) {
	g.say(func(e *wire.Encoder) {
		_ = e.Invoke(1, 0, wor.ServiceWitness, k.sign(reportPurpose, testCluster, encodeReport(r)))
	})
}

// verdict is the answer to a report.
func (g *guest) verdict(t *testing.T) sighting {
	t.Helper()
	a := g.one(wire.TypeAnswer)
	if a.code != wire.CodeOK {
		t.Fatalf("answered %v %s", a.code, a.payload)
	}
	from, text, err := signed(verdictPurpose, testCluster, a.payload)
	if err != nil || from != g.d.s.ID() {
		t.Fatalf("the verdict is by %v: %v", from, err)
	}
	v, err := decodeVerdict(text)
	if err != nil {
		t.Fatal(err)
	}
	return v.seen
}

// TestWitness: a report about a peer is answered when it is written down; the furthest
// report counts; a restart keeps the generation; and a sighting of one life stays until a
// report of another life names exactly that sighting.
func TestWitness(t *testing.T) {
	var o Options
	d := newDesk(t, func(p *Options) { o = *p })
	o.Dir, o.Genesis = "log", d.genesis
	k := NewKey(env.Seeded(77))
	first, second := sighting{place{1, 10}, 5}, sighting{place{2, 12}, 6}
	g := d.peer(k)
	g.reports(k, report{now: first})
	g.none("a generation was acknowledged before it was written down")
	d.commit()
	if s := g.verdict(t); s != (sighting{}) {
		t.Fatalf("before: %+v", s)
	}
	g.reports(k, report{now: sighting{place{1, 11}, 5}})
	if s := g.verdict(t); s != first {
		t.Fatalf("before: %+v", s)
	}
	for range 2 {
		g.reports(k, report{now: sighting{place{1, 3}, 5}}) // it arrives late
		if s := g.verdict(t); s != (sighting{place{1, 11}, 5}) {
			t.Fatalf("before: %+v", s)
		}
	}
	last := sighting{place{1, 11}, 5}
	for i, knows := range []sighting{{}, first, {place{1, 11}, 4}, {place{2, 11}, 5}, {place{1, 12}, 5}} {
		g.reports(k, report{second, knows})
		if s := g.verdict(t); s != last {
			t.Fatalf("report %d that does not name what was seen: %+v", i, s)
		}
	}
	g.reports(k, report{second, last})
	g.none("a life was acknowledged before it was written down")
	d.commit()
	if s := g.verdict(t); s != last {
		t.Fatalf("before: %+v", s)
	}
	// Lives that do not know that one: of its generation, and later ones.
	for i, now := range []sighting{{place{2, 50}, 8}, {place{3, 50}, 9}, {place{4, 50}, 10}} {
		g.reports(k, report{now, last})
		if s := g.verdict(t); s != second {
			t.Fatalf("denial %d: %+v", i, s)
		}
	}
	if err := d.s.Close(); err != nil {
		t.Fatal(err)
	}
	d.open(o)
	g = d.peer(k)
	fifth := sighting{place{5, 50}, 11}
	g.reports(k, report{now: fifth})
	if s := g.verdict(t); s != second {
		t.Fatalf("after a restart: %+v", s)
	}
	g.reports(k, report{fifth, second})
	d.commit()
	g.verdict(t)
	g.reports(k, report{fifth, second})
	if s := g.verdict(t); s != fifth {
		t.Fatalf("a life that knows of the one before is not taken: %+v", s)
	}
}

// TestUnsignedReports: no peer can report for another server, whatever its hello claims,
// nor for another cluster.
func TestUnsignedReports(t *testing.T) {
	d := newDesk(t, nil)
	k, other := NewKey(env.Seeded(77)), NewKey(env.Seeded(78))
	r := encodeReport(report{now: sighting{place{9, 9}, 9}})
	right := k.sign(reportPurpose, testCluster, r)
	forged := append(append(bytes.Clone(r), k.public()...), other.sign(reportPurpose, testCluster, r)[len(r)+32:]...)
	changed := bytes.Clone(right)
	changed[1]++
	for what, payload := range map[string][]byte{
		"nothing": nil, "no signature": r, "another's signature": forged, "a text that was changed": changed,
		"another cluster's": k.sign(reportPurpose, testCluster+1, r), "a verdict": k.sign(verdictPurpose, testCluster, r),
		"an old form": append([]byte{2}, make([]byte, 56)...), "its own": d.s.key.sign(reportPurpose, testCluster, r),
	} {
		g := d.peer(k)
		g.say(func(e *wire.Encoder) { _ = e.Invoke(1, 0, wor.ServiceWitness, payload) })
		d.commit()
		// It is refused, or, if the signature is wrong, the connection is ended.
		if a := g.take(); !g.c.closed && (len(a) != 1 || a[0].code != wire.CodeLimit) {
			t.Errorf("%s: answered %+v", what, a)
		}
	}
	if len(d.s.witness.seen) != 0 {
		t.Errorf("it believes %v", d.s.witness.seen)
	}
}

// TestManyStrangers: a stranger that makes many keys and reports with them does not
// displace members.
func TestManyStrangers(t *testing.T) {
	member := NewKey(env.Seeded(5))
	s := &Server{id: 1}
	s.witness = newWitness(s, 0)
	g := &wor.Genesis{Cluster: testCluster, Partitions: []wor.Config{{Members: []wor.Member{{ID: 1, Addr: "a"}, {ID: member.ID(), Addr: "b"}}}}}
	s.registers.parts = []*part{{group: group.New(1, g, 0)}}
	s.witness.remember(member.ID(), sighting{place{1, 1}, 1})
	for i := range seenMax + 100 {
		s.witness.remember(member.ID()+wor.ServerID(1+i), sighting{place{1, 1}, 1}) // the lowest is forgotten first
	}
	if len(s.witness.seen) > seenMax || s.witness.seen[member.ID()].generation == 0 {
		t.Fatalf("%d sightings, of the member %v", len(s.witness.seen), s.witness.seen[member.ID()])
	}
}

// TestToldWhenWritten: a server does not report a life that its disk does not know yet.
func TestToldWhenWritten(t *testing.T) {
	d := newDesk(t, nil)
	if err := d.s.Close(); err != nil {
		t.Fatal(err)
	}
	o := d.options()
	o.Dir, o.Genesis = "log", &wor.Genesis{Cluster: testCluster, Partitions: []wor.Config{{
		Members: []wor.Member{{ID: d.s.ID(), Addr: "desk"}, {ID: 2, Addr: "two"}, {ID: 3, Addr: "three"}}}}}
	s, err := OpenServer(o)
	if err != nil {
		t.Fatal(err)
	}
	d.s = s
	d.clock.advance(10 * wheelTick)
	if len(d.dialled) != 0 {
		t.Fatal("peers are told before the disk knows")
	}
	if e := &d.s.witness.tell; e.linked() && e.at < d.clock.Now().Add(TellEveryDefault/2) {
		t.Error("it looks again and again whether the disk knows")
	}
	d.commit()
	d.clock.advance(10 * wheelTick)
	if len(d.dialled) != 2 {
		t.Fatalf("%d peers are told", len(d.dialled))
	}
}

// TestCheckpoint: a checkpoint, which replaces the log, has everything that a server
// keeps.
func TestCheckpoint(t *testing.T) {
	var o Options
	d := newDesk(t, func(p *Options) {
		p.LogSegment, p.CheckpointBytes = 16<<10, 1
		o = *p
	})
	o.Dir, o.Genesis = "log", d.genesis
	k := NewKey(env.Seeded(77))
	g := d.peer(k)
	seen := sighting{place{4, 10}, 5}
	g.reports(k, report{now: seen})
	d.commit()
	g.verdict(t)
	for i := range 500 {
		g.ask(1, writeOf(addr(1, i%7), uint64(1+i), "0123456789012345678901234567890123456789"))
		d.commit()
		g.one(wire.TypeReply)
	}
	if n := d.s.Status().Counts.Checkpoints; n < 3 {
		t.Fatalf("%d checkpoints", n)
	}
	position, first := d.s.Status().Position, d.s.witness.lives[0]
	if err := d.s.Close(); err != nil {
		t.Fatal(err)
	}
	d.open(o)
	if l := d.s.witness.lives; len(l) != 2 || !l.past(first) {
		t.Fatalf("the lives are %v, want %v and the present one", l, first)
	}
	if p := d.s.Status().Position; p <= position {
		t.Fatalf("at %d after %d", p, position)
	}
	g = d.peer(k)
	g.reports(k, report{now: seen})
	if s := g.verdict(t); s != seen {
		t.Fatalf("seen %+v", s)
	}
	g.ask(1, wor.Request{Kind: wor.KindRead, Range: wor.Range{Segment: 1, Lo: 0, Hi: 7}})
	r := g.one(wire.TypeReply).reply
	if len(r.Runs) != 7 || r.Runs[499%7].Accepted.Round != 500 {
		t.Fatalf("%+v", r)
	}
}

// asker is a server of three members, and the keys of the other two.
func asker(t *testing.T) (d *desk, peers []Key) {
	d = newDesk(t, nil)
	if err := d.s.Close(); err != nil {
		t.Fatal(err)
	}
	o := d.options()
	cfg := wor.Config{Members: []wor.Member{{ID: d.s.ID(), Addr: "desk"}}}
	for i := range 2 {
		k := NewKey(env.Seeded(uint64(50 + i)))
		peers = append(peers, k)
		cfg.Members = append(cfg.Members, wor.Member{ID: k.ID(), Name: fmt.Sprint("p", i), Addr: fmt.Sprint("p", i)})
	}
	o.Dir, o.Genesis = "log", &wor.Genesis{Cluster: testCluster, Partitions: []wor.Config{cfg}}
	o.Warn = func(text string) { d.warned = append(d.warned, text) }
	d.clock.advance(time.Second) // an instant of 0 would mean none
	d.open(o)
	d.clock.advance(2 * wheelTick)
	return d, peers
}

// reportTo is a report that the server has sent to a peer, and a function that answers
// it.
func (d *desk) reportTo(t *testing.T, addr string) (r report, answer func(k Key, v verdict)) {
	t.Helper()
	return d.askedAt(t, addr).report(t)
}

// askedAt is a peer that the server has dialled, and that welcomes it.
func (d *desk) askedAt(t *testing.T, addr string) *server {
	t.Helper()
	i := slices.IndexFunc(d.dialled, func(h handDial) bool { return string(h.addr) == addr && !h.c.closed })
	if i < 0 {
		t.Fatalf("%s is not dialled", addr)
	}
	d.dialled[i], d.dialled[len(d.dialled)-1] = d.dialled[len(d.dialled)-1], d.dialled[i]
	return d.dialledBy(t, NewKey(env.Seeded(50+uint64(addr[1]-'0')))) // as asker draws it
}

// report returns the next report that the server has sent, and a function that answers
// it.
func (s *server) report(t *testing.T) (r report, answer func(k Key, v verdict)) {
	t.Helper()
	s.c.scan.Feed(s.c.out)
	s.c.out = nil
	for {
		f, ok, err := s.c.scan.Next()
		if err != nil || !ok {
			t.Fatalf("no report: %v", err)
		}
		if f.Type != wire.TypeInvoke {
			continue
		}
		n, _, _, payload, err := wire.DecodeInvoke(f.Payload)
		if err != nil {
			t.Fatal(err)
		}
		from, text, err := signed(reportPurpose, testCluster, payload)
		if err != nil || from != s.d.s.ID() {
			t.Fatalf("the report is by %v: %v", from, err)
		}
		if r, err = decodeReport(text); err != nil {
			t.Fatal(err)
		}
		return r, func(k Key, v verdict) {
			s.answer(func(e *wire.Encoder) {
				_ = e.Answer(n, wire.CodeOK, k.sign(verdictPurpose, testCluster, encodeVerdict(v)))
			})
		}
	}
}

// TestUnsignedVerdicts: a stranger at a member's address neither mutes a server nor
// makes it sure.
func TestUnsignedVerdicts(t *testing.T) {
	far := sighting{place{99, 99}, 99}
	mute := func(d *desk) bool { return d.s.Status().Partitions[0].Unsure }
	for what, test := range map[string]struct {
		by    int // whose key; 2 is that of no member
		wrong func(*verdict)
	}{"another member": {1, nil}, "a stranger": {2, nil}, "to another report": {0, func(v *verdict) { v.to[0]++ }},
		"about another": {0, func(v *verdict) { v.about++ }}} {
		for _, seen := range []sighting{{}, far} {
			d, keys := asker(t)
			keys = append(keys, NewKey(env.Seeded(99)))
			r, answer := d.reportTo(t, "p0")
			v := verdict{about: d.s.ID(), to: r.digest(), seen: seen}
			if test.wrong != nil {
				test.wrong(&v)
			}
			answer(keys[test.by], v)
			if s := d.s.Status(); s.RolledBack != "" || !mute(d) || len(d.warned) > 0 {
				t.Errorf("%s is believed about %v: %+v", what, seen, s)
			}
		}
	}
	d, keys := asker(t)
	r, answer := d.reportTo(t, "p0")
	answer(keys[0], verdict{about: d.s.ID(), to: r.digest()})
	if !mute(d) {
		t.Error("the server does not wait for the other member")
	}
	d.clock.advance(WitnessWaitDefault)
	if mute(d) {
		t.Error("a member's word does not count")
	}
	r, answer = d.reportTo(t, "p1")
	answer(keys[1], verdict{about: d.s.ID(), to: r.digest(), seen: far})
	if s := d.s.Status(); s.RolledBack == "" || len(d.warned) != 1 || !strings.Contains(d.warned[0], "99/99") {
		t.Errorf("a member's denial does not count, or is not reported: %+v, %q", s, d.warned)
	}
	g := d.connect()
	g.say(func(e *wire.Encoder) {
		e.Hello(&wire.Hello{Version: wire.Version, Cluster: testCluster, From: 9, To: d.s.ID()})
	})
	if w := g.one(wire.TypeWelcome); w.welcome.Refusal != wire.RefusalBehind {
		t.Errorf("a server that is denied welcomes: %+v", w)
	}
	d.commit()
	restart := func(g *wor.Genesis) string {
		if err := d.s.Close(); err != nil {
			t.Fatal(err)
		}
		o := d.options()
		o.Dir, o.Genesis = "log", g
		d.open(o)
		return d.s.Status().RolledBack
	}
	restored := *d.genesis
	restored.Cluster, restored.Restored = testCluster+1, []uint64{testCluster}
	for range 2 {
		if restart(d.genesis) == "" {
			t.Error("the denial is forgotten by a restart")
		}
	}
	for range 2 {
		if why := restart(&restored); why != "" {
			t.Error("after a restore the server is held against what was before it:", why)
		}
	}
}

// TestWaitsForOneMore: a server that waited long for the first of its peers waits for
// another one from then on, and not from its start.
func TestWaitsForOneMore(t *testing.T) {
	d, keys := asker(t)
	r, answer := d.reportTo(t, "p0")
	d.clock.advance(WitnessWaitDefault * 3 / 2) // less than the report may take
	answer(keys[0], verdict{about: d.s.ID(), to: r.digest()})
	if !d.s.Status().Partitions[0].Unsure {
		t.Fatal("the server has a bare majority, and does not wait for another member")
	}
	d.clock.advance(WitnessWaitDefault)
	if d.s.Status().Partitions[0].Unsure {
		t.Error("the server waits for another member without end")
	}
}

// TestEarlierLifeIsNamed: a peer that has seen an earlier life is a witness of the
// present one only after a report that its sighting is in the past of the disk.
func TestEarlierLifeIsNamed(t *testing.T) {
	d, keys := asker(t)
	first := d.s.witness.lives[0]
	d.commit()
	if err := d.s.Close(); err != nil {
		t.Fatal(err)
	}
	o := d.options()
	o.Dir, o.Genesis = "log", d.genesis
	d.dialled = nil
	d.open(o)
	d.commit()
	d.clock.advance(2 * wheelTick)
	peer := d.askedAt(t, "p0")
	r, answer := peer.report(t)
	if r.knows != (sighting{}) {
		t.Fatalf("the first report names %v", r.knows)
	}
	answer(keys[0], verdict{about: d.s.ID(), to: r.digest(), seen: first})
	if w := d.s.Status().Witnesses; len(w) > 0 {
		t.Fatalf("the witnesses are %v, and none of them has written the life down", w)
	}
	d.clock.advance(2 * wheelTick)
	r, answer = peer.report(t)
	if r.knows != first {
		t.Fatalf("the second report names %v, want %v", r.knows, first)
	}
	answer(keys[0], verdict{about: d.s.ID(), to: report{now: r.now}.digest(), seen: first})
	if w := d.s.Status().Witnesses; len(w) > 0 {
		t.Fatalf("the witnesses are %v: the verdict on the first report was sent again", w)
	}
	d.clock.advance(d.s.retryMax())
	r, answer = peer.report(t)
	answer(keys[0], verdict{about: d.s.ID(), to: r.digest(), seen: first})
	if w := d.s.Status().Witnesses; len(w) != 1 {
		t.Fatalf("the witnesses are %v", w)
	}
}

// TestWitnessesOfEpochs: in each epoch a server is mute until members of that epoch have
// written its life down. Meanwhile it answers only that the epoch has begun.
func TestWitnessesOfEpochs(t *testing.T) {
	d, keys := asker(t)
	unsure := func() bool { return d.s.Status().Partitions[0].Unsure }
	var answers []func(Key, verdict)
	var first report
	for i := range keys {
		r, answer := d.reportTo(t, fmt.Sprint("p", i))
		answers, first = append(answers, answer), r
	}
	for i, k := range keys {
		if !unsure() {
			t.Fatalf("the server answers with %d of two witnesses", i)
		}
		answers[i](k, verdict{about: d.s.ID(), to: first.digest()})
	}
	if unsure() || len(d.s.Status().Witnesses) != 2 {
		t.Fatalf("the server does not answer, with two of two witnesses: %+v", d.s.Status())
	}
	g := d.guest()
	next := d.s.Configs()[0]
	for epoch, c := range []struct {
		members []wor.Member
		fewest  bool // there are witnesses for a majority
		all     bool
	}{
		{next.Members, true, true},
		{[]wor.Member{next.Members[0], next.Members[1], {ID: 91, Addr: "p4"}}, true, false},
		{[]wor.Member{next.Members[0], {ID: 91, Addr: "p4"}, {ID: 92, Addr: "p5"}}, false, false},
		{next.Members[:1], true, true},
	} {
		next.Epoch, next.Members = wor.Epoch(epoch+1), c.members
		d.s.beliefs.decided(&next)
		if unsure() == c.all {
			t.Errorf("epoch %d: witnesses are missing: %v", next.Epoch, unsure())
		}
		value, err := next.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		g.ask(1, wor.Request{Kind: wor.KindActivate, Epoch: next.Epoch, Value: value})
		g.ask(2, wor.Request{Kind: wor.KindStatus, Epoch: next.Epoch})
		d.commit()
		said := g.take()
		if len(said) != 2 {
			t.Fatalf("epoch %d: %+v", next.Epoch, said)
		}
		for _, a := range said {
			// It lacks its stage, and reports that the epoch has begun.
			if begun := a.reply.Epoch == next.Epoch; begun != (a.id == 1 || c.all) {
				t.Errorf("epoch %d, request %d: %+v", next.Epoch, a.id, a.reply)
			}
		}
		d.clock.advance(WitnessWaitDefault)
		if unsure() == c.fewest {
			t.Errorf("epoch %d, after WitnessWait: witnesses are missing: %v", next.Epoch, unsure())
		}
	}
}

// TestDecidedWhileFull: an epoch that was decided while the disk was full begins when
// there is room again, even if no client claims it any more.
func TestDecidedWhileFull(t *testing.T) {
	d, _ := asker(t)
	d.s.commits.full = true
	for _, e := range []wor.Epoch{2, 1} {
		next := d.s.Configs()[0]
		next.Epoch = e
		d.s.beliefs.decided(&next)
	}
	d.clock.advance(2 * careEvery)
	if e := d.s.Configs()[0].Epoch; e != 0 {
		t.Fatalf("epoch %d has begun on a full disk", e)
	}
	d.s.commits.full = false
	d.clock.advance(2 * careEvery)
	if e := d.s.Configs()[0].Epoch; e != 2 {
		t.Errorf("there is room, and epoch %d is served, want 2", e)
	}
}

// TestRestored: a restored cluster has another number. Clients that know the earlier
// number are notified, and earlier sightings of servers no longer count.
func TestRestored(t *testing.T) {
	var o Options
	d := newDesk(t, func(p *Options) { o = *p })
	k := NewKey(env.Seeded(77))
	g := d.peer(k)
	g.reports(k, report{now: sighting{place{9, 90}, 5}})
	d.commit()
	g.verdict(t)
	if err := d.s.Close(); err != nil {
		t.Fatal(err)
	}
	restored := *d.genesis
	restored.Cluster++
	o.Dir, o.Genesis = "log", &restored
	if _, err := OpenServer(o); !errors.Is(err, ErrCluster) {
		t.Fatalf("a directory of another cluster: %v", err)
	}
	d.woken = d.step() // of a server that does not exist
	restored.Restored = []uint64{testCluster}
	for i := range 2 {
		d.open(o)
		g = d.connect()
		g.say(func(e *wire.Encoder) {
			e.Hello(&wire.Hello{Version: wire.Version, Cluster: testCluster, From: 9, To: d.s.ID()})
		})
		if w := g.one(wire.TypeWelcome); w.welcome.Refusal != wire.RefusalRestored {
			t.Fatalf("who knows the old number: %+v", w)
		}
		g = d.connect()
		g.say(func(e *wire.Encoder) {
			e.Hello(&wire.Hello{Version: wire.Version, Cluster: restored.Cluster, From: 9, To: d.s.ID()})
			r := report{now: sighting{place{uint64(2 + i), 20}, 6}}
			if i > 0 {
				r.knows = sighting{place{2, 20}, 6}
			}
			_ = e.Invoke(1, 0, wor.ServiceWitness, k.sign(reportPurpose, restored.Cluster, encodeReport(r)))
		})
		d.commit()
		got := g.take()
		_, text, err := signed(verdictPurpose, restored.Cluster, got[len(got)-1].payload)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := decodeVerdict(text); err != nil || v.seen.generation != uint64(2*i) {
			t.Fatalf("start %d: seen at %+v, %v", i, v.seen, err)
		}
		if err := d.s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	before := restored
	before.Cluster, before.Restored = testCluster, nil
	o.Genesis = &before
	if _, err := OpenServer(o); !errors.Is(err, ErrCluster) {
		t.Fatalf("back to the number before: %v", err)
	}
	d.woken = d.step()
}
