package node

import (
	"testing"

	"github.com/ashlar-dev/ashlar/worm/wire"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// peer is a guest that is a server.
func (d *desk) peer(id wor.ServerID) *guest {
	g := d.connect()
	g.say(func(e *wire.Encoder) {
		e.Hello(&wire.Hello{Version: wire.Version, Peer: true, Cluster: testCluster, From: uint64(id), To: d.s.ID()})
	})
	g.one(wire.TypeWelcome)
	return g
}

// tells tells the server where a peer stands.
func (g *guest) tells(id wor.ServerID, s sighting) {
	g.say(func(e *wire.Encoder) { _ = e.Invoke(1, 0, wor.ServiceWitness, encodeSighting(id, s)) })
}

func (g *guest) before(t *testing.T) sighting {
	t.Helper()
	a := g.one(wire.TypeAnswer)
	if a.code != wire.CodeOK {
		t.Fatalf("answered %v %s", a.code, a.payload)
	}
	_, s, err := decodeSighting(a.payload)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWitness: what is seen of a peer is answered to it when it is written down,
// the furthest counts, and a restart keeps the generation.
func TestWitness(t *testing.T) {
	var o Options
	d := newDesk(t, func(p *Options) { o = *p })
	o.Dir, o.Genesis = "log", d.genesis
	const id = 77
	first, second := sighting{place{1, 10}, 5}, sighting{place{2, 12}, 6}
	g := d.peer(id)
	g.tells(id, first)
	g.none("a generation was acknowledged before it was written down")
	d.commit()
	if s := g.before(t); s != (sighting{}) {
		t.Fatalf("before: %+v", s)
	}
	g.tells(id, sighting{place{1, 11}, 5})
	if s := g.before(t); s != first {
		t.Fatalf("before: %+v", s)
	}
	for range 2 {
		g.tells(id, sighting{place{1, 3}, 5}) // late
		if s := g.before(t); s != (sighting{place{1, 11}, 5}) {
			t.Fatalf("before: %+v", s)
		}
	}
	g.tells(id, second)
	d.commit()
	g.before(t)
	g.tells(id, sighting{place{2, 50}, 8}) // another life of the same generation
	if s := g.before(t); s != second {
		t.Fatalf("before: %+v", s)
	}
	if err := d.s.Close(); err != nil {
		t.Fatal(err)
	}
	d.open(o)
	g = d.peer(id)
	g.tells(id, sighting{place{2, 50}, 8})
	if s := g.before(t); s != second {
		t.Fatalf("after a restart: %+v", s)
	}
	g.tells(78, sighting{place{9, 9}, 9})
	if a := g.one(wire.TypeAnswer); a.code != wire.CodeLimit {
		t.Fatalf("a server speaks for another: %v", a.code)
	}
	h := d.guest()
	h.tells(9, sighting{place{9, 9}, 9})
	if a := h.one(wire.TypeAnswer); a.code != wire.CodeLimit {
		t.Fatalf("a client speaks for a server: %v", a.code)
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
	g := d.peer(77)
	seen := sighting{place{4, 10}, 5}
	g.tells(77, seen)
	d.commit()
	g.before(t)
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
	g = d.peer(77)
	g.tells(77, seen)
	if s := g.before(t); s != seen {
		t.Fatalf("seen %+v", s)
	}
	g.ask(1, wor.Request{Kind: wor.KindRead, Range: wor.Range{Segment: 1, Lo: 0, Hi: 7}})
	r := g.one(wire.TypeReply).reply
	if len(r.Runs) != 7 || r.Runs[499%7].Accepted.Round != 500 {
		t.Fatalf("%+v", r)
	}
}
