package node

import (
	"bytes"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/group"
	"github.com/ashlar-dev/ashlar/worm/wire"
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

// reports reports to the server where a peer stands.
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

// TestWitness: what is seen of a peer is answered to it when it is written down,
// the furthest counts, a restart keeps the generation, and what speaks against the
// peer stays.
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
		g.reports(k, report{now: sighting{place{1, 3}, 5}}) // late
		if s := g.verdict(t); s != (sighting{place{1, 11}, 5}) {
			t.Fatalf("before: %+v", s)
		}
	}
	g.reports(k, report{second, 12, sighting{place{1, 3}, 5}})
	d.commit()
	g.verdict(t)
	// Lives that know nothing of that one: of its generation, and later ones.
	for i, now := range []sighting{{place{2, 50}, 8}, {place{3, 50}, 9}, {place{4, 50}, 10}} {
		g.reports(k, report{now, 11, sighting{place{1, 3}, 5}})
		if s := g.verdict(t); s != second {
			t.Fatalf("denial %d: %+v", i, s)
		}
	}
	if err := d.s.Close(); err != nil {
		t.Fatal(err)
	}
	d.open(o)
	g = d.peer(k)
	g.reports(k, report{sighting{place{5, 50}, 11}, 11, sighting{place{1, 3}, 5}})
	if s := g.verdict(t); s != second {
		t.Fatalf("after a restart: %+v", s)
	}
	g.reports(k, report{sighting{place{5, 50}, 11}, 50, second})
	d.commit()
	g.verdict(t)
	g.reports(k, report{sighting{place{5, 50}, 11}, 50, second})
	if s := g.verdict(t); s.generation != 5 {
		t.Fatalf("a life that knows of the one before is not taken: %+v", s)
	}
}

// TestUnsignedReports: nobody reports for another server, whatever the hello said,
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
		"the old form": append([]byte{1}, make([]byte, 32)...), "its own": d.s.key.sign(reportPurpose, testCluster, r),
	} {
		g := d.peer(k)
		g.say(func(e *wire.Encoder) { _ = e.Invoke(1, 0, wor.ServiceWitness, payload) })
		d.commit()
		if a := g.one(wire.TypeAnswer); a.code != wire.CodeLimit {
			t.Errorf("%s: answered %v", what, a.code)
		}
	}
	if len(d.s.seen) != 1 { // itself
		t.Errorf("it believes %v", d.s.seen)
	}
}

// TestManyStrangers: whoever makes many keys and reports with them does not have
// members forgotten.
func TestManyStrangers(t *testing.T) {
	member := NewKey(env.Seeded(5))
	s := &Server{seen: map[wor.ServerID]sighting{}, id: 1}
	g := &wor.Genesis{Cluster: testCluster, Partitions: []wor.Config{{Members: []wor.Member{{ID: 1, Addr: "a"}, {ID: member.ID(), Addr: "b"}}}}}
	s.parts = []*part{{group: group.New(1, g, 0)}}
	s.remember(1, sighting{place{1, 1}, 1})
	s.remember(member.ID(), sighting{place{1, 1}, 1})
	for i := range seenMax + 100 {
		s.remember(wor.ServerID(1000+i), sighting{place{1, 1}, 1})
	}
	if len(s.seen) > seenMax || s.seen[1].generation == 0 || s.seen[member.ID()].generation == 0 {
		t.Fatalf("%d sightings, of itself %v, of the member %v", len(s.seen), s.seen[1], s.seen[member.ID()])
	}
}

// TestToldWhenWritten: a server tells nobody of a life that its disk does not
// know of yet.
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
	d.commit()
	d.clock.advance(10 * wheelTick)
	if len(d.dialled) != 2 {
		t.Fatalf("%d peers are told", len(d.dialled))
	}
}

// TestCheckpoint: all that a server keeps is in what replaces its log.
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
	position := d.s.Status().Position
	if err := d.s.Close(); err != nil {
		t.Fatal(err)
	}
	d.open(o)
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
