// SPDX-License-Identifier: Apache-2.0

package node

import (
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// life is a report of a server's first life.
func life(n uint64) report { return report{now: sighting{place{1, 10}, n}} }

// TestReportsAreRefused: a server that can make nothing durable, that is overloaded, or that is
// about to end answers a report with busy, and keeps nothing of it.
func TestReportsAreRefused(t *testing.T) {
	for what, begin := range map[string]func(*desk){
		"a full disk": func(d *desk) { d.s.commits.full = true },
		"pressed":     func(d *desk) { d.s.opt.ServerInflightMax = -1 },
		"draining":    func(d *desk) { d.s.Drain(func() {}) },
	} {
		d, keys := asker(t)
		d.commit()
		g := d.peer(keys[0])
		begin(d)
		g.take() // when the server drains, it has announced that it is about to end
		records := d.s.commits.last()
		g.reports(keys[0], life(5))
		if a := g.one(wire.TypeAnswer); a.code != wire.CodeBusy {
			t.Errorf("%s: answered %v", what, a.code)
		}
		if n := d.s.commits.last() - records; n != 0 || len(d.s.witness.seen) != 0 {
			t.Errorf("%s: %d records and %d sightings are kept", what, n, len(d.s.witness.seen))
		}
	}
}

// TestReportsOfStrangers: strangers with keys of their own, each on a connection of its own, cause a
// bounded number of records a second, whatever their number; members are served meanwhile.
func TestReportsOfStrangers(t *testing.T) {
	d, keys := asker(t)
	d.commit()
	strangers := func(from int) (answered int) {
		records := d.s.commits.last()
		for i := range 3 * strangerBurst {
			k := NewKey(env.Seeded(uint64(10_000 + from + i)))
			g := d.peer(k)
			g.reports(k, life(5))
			d.commit()
			if g.one(wire.TypeAnswer).code == wire.CodeOK {
				answered++
			}
		}
		if n := d.s.commits.last() - records; n != uint64(answered) {
			t.Errorf("%d records for %d answers", n, answered)
		}
		return answered
	}
	if n := strangers(0); n != strangerBurst {
		t.Errorf("%d strangers are answered at once, want %d", n, strangerBurst)
	}
	g := d.peer(keys[0])
	g.reports(keys[0], life(5))
	d.commit()
	g.verdict(t)
	d.clock.advance(time.Second / 2)
	if n := strangers(1000); n != strangerBurst/2 {
		t.Errorf("%d strangers are answered after half a second, want %d", n, strangerBurst/2)
	}
}

// TestReportsOfOneConnection: a connection that sends the same report again and again gets a bounded
// number of answers a second, and is answered again later.
func TestReportsOfOneConnection(t *testing.T) {
	d, keys := asker(t)
	d.commit()
	g := d.peer(keys[0])
	for _, want := range []int{reportBurst, int(time.Second / reportEvery)} {
		answered := 0
		for range 10 * reportBurst {
			g.reports(keys[0], life(5))
			d.commit()
			if g.one(wire.TypeAnswer).code == wire.CodeOK {
				answered++
			}
		}
		if answered != want {
			t.Errorf("%d reports are answered, want %d", answered, want)
		}
		d.clock.advance(time.Second)
	}
	forged := NewKey(env.Seeded(99)).sign(reportPurpose, testCluster, encodeReport(life(6)))
	copy(forged[reportLen:], keys[0].public()) // a member's key, and another's signature
	g = d.peer(keys[0])
	g.say(func(e *wire.Encoder) { _ = e.Invoke(1, 0, wor.ServiceWitness, forged) })
	if !g.c.closed {
		t.Error("a connection with a wrong signature goes on")
	}
}

// TestReportsAreReplayed: a stranger that sends members' reports again, on any number of
// connections, causes a bounded number of signatures, and does not delay a member that has
// restarted.
func TestReportsAreReplayed(t *testing.T) {
	d, keys := asker(t)
	d.commit()
	send := func(r report) answer {
		g := d.peer(keys[0])
		g.reports(keys[0], r)
		d.commit()
		a := g.one(wire.TypeAnswer)
		g.h.Closed(g.c, nil)
		return answer{a.code, string(a.payload)}
	}
	older, last := report{now: sighting{place{1, 1000}, 5}}, report{now: sighting{place{1, 1001}, 5}}
	if a := send(older); a.code != wire.CodeOK {
		t.Fatalf("answered %v", a.code)
	}
	first := send(last) // the verdict names the older sighting; a new verdict would name this one
	if first.code != wire.CodeOK {
		t.Fatalf("answered %v", first.code)
	}
	for range 10 * reportBurst {
		if a := send(last); a != first {
			t.Fatalf("the same report is answered %v, and another verdict", a.code)
		}
	}
	answered := 0
	for range 10 * reportBurst {
		older.now.position-- // each differs
		if send(older).code == wire.CodeOK {
			answered++
		}
	}
	if answered != reportBurst {
		t.Errorf("%d reports that bring nothing new are answered, want %d", answered, reportBurst)
	}
	next := report{now: sighting{place{2, 1002}, 6}}
	if a := send(next); a.code != wire.CodeOK {
		t.Errorf("the member that has restarted is answered %v", a.code)
	}
	next.knows = last.now
	if a := send(next); a.code != wire.CodeOK {
		t.Errorf("the member that names the sighting is answered %v", a.code)
	}
	if seen := d.s.witness.seen[keys[0].ID()]; seen != next.now {
		t.Errorf("seen %v", seen)
	}
}

// TestForgedReportsKeepNobodyWaiting: a stranger that forges reports of a member, with a life of its
// own or that of a restored disk, or that sends those of that disk again, does not delay the verdict
// that denies the disk.
func TestForgedReportsKeepNobodyWaiting(t *testing.T) {
	d, keys := asker(t)
	d.commit()
	send := func(payload []byte) (a answer) {
		g := d.peer(keys[0])
		g.say(func(e *wire.Encoder) { _ = e.Invoke(1, 0, wor.ServiceWitness, payload) })
		d.commit()
		if !g.c.closed {
			f := g.one(wire.TypeAnswer)
			a = answer{f.code, string(f.payload)}
			g.h.Closed(g.c, nil)
		}
		return a
	}
	signed := func(k Key, r report) []byte { return k.sign(reportPurpose, testCluster, encodeReport(r)) }
	lost, back := sighting{place{7, 1000}, 5}, report{now: sighting{place{6, 900}, 77}}
	if a := send(signed(keys[0], report{now: lost})); a.code != wire.CodeOK {
		t.Fatalf("answered %v", a.code)
	}
	payload := signed(keys[0], back)
	for range 2 {
		for i := range 10 * reportBurst {
			for _, life := range []uint64{9, 77} {
				forged := signed(NewKey(env.Seeded(99)), report{now: sighting{place{1, uint64(i)}, life}})
				copy(forged[reportLen:], keys[0].public()) // the member's key, and another's signature
				if a := send(forged); a != (answer{}) {
					t.Fatalf("a forged report is answered %v", a.code)
				}
			}
		}
		for range 10 * reportBurst {
			if a := send(payload); a.code != wire.CodeOK {
				t.Fatalf("the disk that was put back is answered %v", a.code)
			}
		}
		back.now.position++
		payload = signed(keys[0], back)
	}
	if seen := d.s.witness.seen[keys[0].ID()]; seen != lost {
		t.Errorf("seen %v", seen)
	}
	// Reports of a later generation that name no sighting bring nothing new, either.
	answered := 0
	for i := range 10 * reportBurst {
		if send(signed(keys[0], report{now: sighting{place{8, uint64(2000 + i)}, 6}})).code == wire.CodeOK {
			answered++
		}
	}
	if answered != reportBurst {
		t.Errorf("%d reports of one life that bring nothing new are answered, want %d", answered, reportBurst)
	}
}

// answer is a code and its payload.
type answer struct {
	code    wire.Code
	payload string
}
