// SPDX-License-Identifier: Apache-2.0

package node

import (
	"slices"
	"strings"
	"testing"
)

// TestPast compares sightings of a server with the lives that its disk knows. It began
// generation 3 with 10 records, 5 with 90 and, after a start that ended before it was
// written down, 7 with 100.
func TestPast(t *testing.T) {
	var l lives
	for _, s := range []sighting{{place{3, 10}, 30}, {place{5, 90}, 50}, {place{7, 100}, 70}} {
		l = l.add(s)
	}
	for _, x := range []struct {
		what string
		seen sighting
		want bool
	}{
		{"nothing", sighting{}, true},
		{"a life before all that the disk knows of", sighting{place{2, 5}, 20}, false},
		{"the first life", sighting{place{3, 10}, 30}, true},
		{"its end", sighting{place{3, 90}, 30}, true},
		{"the first life, with more than the disk has of it", sighting{place{3, 91}, 30}, false},
		{"another life of that generation", sighting{place{3, 50}, 31}, false},
		{"a life between, of which the disk knows nothing", sighting{place{4, 90}, 40}, false},
		{"the life before", sighting{place{5, 100}, 50}, true},
		{"the life before, with more than the disk has of it", sighting{place{5, 101}, 50}, false},
		{"another life of that generation", sighting{place{5, 95}, 51}, false},
		{"a life that told of itself, and of which the disk knows nothing", sighting{place{6, 100}, 60}, false},
		{"this one", sighting{place{7, 110}, 70}, true},
		{"another one of this generation", sighting{place{7, 110}, 71}, false},
		{"a later one", sighting{place{8, 1}, 80}, false},
	} {
		if got := l.past(x.seen); got != x.want {
			t.Errorf("%s: %v, want %v", x.what, got, x.want)
		}
	}
	if again := l.add(sighting{place{5, 90}, 50}); !slices.Equal(again, l) {
		t.Errorf("a life that is known is added: %v", again)
	}
}

// TestLivesMax: a server remembers livesMax lives, and knows nothing of those that it has
// forgotten.
func TestLivesMax(t *testing.T) {
	var l lives
	life := func(g int) sighting { return sighting{place{uint64(g), uint64(10 * g)}, uint64(1000 + g)} }
	for g := 1; g <= livesMax+2; g++ {
		l = l.add(life(g))
	}
	if len(l) != livesMax {
		t.Fatalf("%d lives are kept, want %d", len(l), livesMax)
	}
	for g, want := range map[int]bool{1: false, 2: false, 3: true, livesMax: true, livesMax + 2: true} {
		if l.past(life(g)) != want {
			t.Errorf("generation %d: %v, want %v", g, !want, want)
		}
	}
}

// history is a server, the copy of its disk, and two peers. Its steps run the functions
// by which servers decide, and keep the true state beside them.
type history struct {
	t       *testing.T
	steps   []byte
	disk    trueDisk
	copied  *trueDisk
	running bool
	rolled  bool // some disk was restored
	life    uint64
	peers   [2]truePeer
}

// trueDisk is the content of a disk: the records on it, and for each the number of the
// step that wrote it.
type trueDisk struct {
	generation, position uint64
	lives                lives
	moments              []uint64
}

func (d *trueDisk) write(now uint64) {
	d.position++
	d.moments = append(d.moments, now)
}

func (d trueDisk) clone() *trueDisk {
	d.lives, d.moments = slices.Clone(d.lives), slices.Clone(d.moments)
	return &d
}

// truePeer is a peer: its sighting as it is written down, and all records that the disk
// had whenever this peer wrote down what it saw (durable), or saw it since this peer's
// last start (fresh).
type truePeer struct {
	s              *Server
	written        sighting
	durable, fresh []uint64
}

const subject = 7 // the identity of the server

// step does one step: a start that no peer hears of (s), a record (r), a copy of the disk
// (c), a restoration of the copy (p), a meeting with a peer (0 and 1), a restart of that
// peer (x and y). It reports whether the step was possible.
func (h *history) step(b byte) bool {
	h.steps = append(h.steps, b)
	now := uint64(len(h.steps))
	switch b {
	case 's':
		h.disk.generation++
		h.life, h.running = now, true
		h.disk.lives = h.disk.lives.add(sighting{place{h.disk.generation, h.disk.position}, h.life})
		h.disk.write(now)
	case 'r':
		if !h.running {
			return false
		}
		h.disk.write(now)
	case 'c':
		h.copied = h.disk.clone()
	case 'p':
		if h.copied == nil {
			return false
		}
		h.disk, h.running, h.rolled = *h.copied.clone(), false, true
	case '0', '1':
		if !h.running {
			return false
		}
		h.meet(&h.peers[b-'0'])
	case 'x', 'y':
		p := &h.peers[b-'x']
		if p.written.generation > 0 {
			p.s.witness.seen[subject] = p.written
			p.fresh = nil
		}
	}
	return true
}

// meet makes the server report until the peer is sure of it or denies it.
func (h *history) meet(p *truePeer) {
	now := sighting{place{h.disk.generation, h.disk.position}, h.life}
	r := report{now: now}
	for round := 0; ; round++ {
		before := p.s.commits.last()
		seen, _ := p.s.witness.take(subject, r)
		// The truth: whether the disk has, or lacks, records that the peer has seen.
		lost := slices.ContainsFunc(slices.Concat(p.durable, p.fresh), func(m uint64) bool { return !slices.Contains(h.disk.moments, m) })
		if p.s.commits.last() > before {
			p.written, p.durable = now, append(p.durable, h.disk.moments...)
		}
		switch {
		case !h.disk.lives.past(seen):
			if !h.rolled {
				h.t.Fatalf("%s: no disk was ever put back, and the peer that has seen %v denies one with %v", h.steps, seen, h.disk.lives)
			}
			return
		case r.sameLife(seen) || r.replaces(seen):
			if lost {
				h.t.Fatalf("%s: a peer that has seen the records %v, %v is sure of a disk with %v", h.steps, p.durable, p.fresh, h.disk.moments)
			}
			p.fresh = append(p.fresh, h.disk.moments...)
			return
		case round > 2:
			h.t.Fatalf("%s: there is no end of the reports", h.steps)
		}
		r.knows = seen
	}
}

// TestEveryHistory tries all histories of that many steps of a server, the copy of its
// disk, and two peers. No peer is ever sure of a disk that lacks records that the peer
// has written down, or has seen since it started, however often the disk has started
// alone since; and each peer is sure of a disk that was never restored. The steps show,
// by sets of records, what a disk lacks.
func TestEveryHistory(t *testing.T) {
	most := 8
	if testing.Short() {
		most = 6
	}
	played := 0
	var play func(steps []byte)
	play = func(steps []byte) {
		h := &history{t: t}
		for i := range h.peers {
			s := &Server{id: 1}
			s.commits.s = s
			s.witness = newWitness(s, 0)
			h.peers[i].s = s
		}
		for i, b := range steps {
			if !h.step(b) {
				if i != len(steps)-1 {
					t.Fatalf("%s: impossible, and played on", steps)
				}
				return
			}
		}
		played++
		if len(steps) == most {
			return
		}
		for _, b := range []byte("srcp01xy") {
			if b != 'x' && b != 'y' || strings.ContainsAny(string(steps), "01") {
				play(append(steps[:len(steps):len(steps)], b))
			}
		}
	}
	play([]byte("s"))
	t.Logf("%d histories", played)
}
