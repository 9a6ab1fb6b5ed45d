// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// How long faults of links and disks last.
const (
	cutMin     = 10 * time.Millisecond
	cutMax     = 5 * time.Second
	clogMax    = 2 * time.Second
	troubleMax = 3 * time.Second
)

// strike is the next fault of a kind that strikes by time.
type strike struct {
	w *World
	k Kind
}

// nextStrike draws when a kind strikes next: between now and twice the mean.
func (w *World) nextStrike(k Kind) {
	wait := 2 * float64(time.Second) / w.opt.Faults.rate[k] * unit(w.chance[k])
	w.at(w.now.Add(time.Duration(min(wait, float64(longest)))), nil, &strike{w, k})
}

func (s *strike) idle() bool { return s.w.healed }

func (s *strike) happen() {
	w, r := s.w, s.w.chance[s.k]
	if len(w.nodes) > 0 {
		n := w.nodes[env.IntN(r, len(w.nodes))]
		switch s.k {
		case Clog, Partition, OneWay:
			w.hitNetwork(s.k, n, r)
		default:
			w.hitNode(s.k, n, r)
		}
	}
	w.nextStrike(s.k)
}

func (w *World) hitNetwork(k Kind, n *Node, r env.Random) {
	if len(w.nodes) < 2 {
		return
	}
	if k == Clog {
		to := w.nodes[(n.id+1+env.IntN(r, len(w.nodes)-1))%len(w.nodes)]
		d := between(r, cutMin, clogMax)
		w.strike(k, n, uint64(d), uint64(to.id))
		w.Clog(n, to, d)
		return
	}
	// One side has n, the other its neighbour; the other nodes are assigned at
	// random.
	a, b := []*Node{n}, []*Node(nil)
	for i := 1; i < len(w.nodes); i++ {
		x := w.nodes[(n.id+i)%len(w.nodes)]
		if i > 1 && chance(r, 0.5) {
			a = append(a, x)
		} else {
			b = append(b, x)
		}
	}
	if chance(r, 0.5) {
		a, b = b, a
	}
	d := between(r, cutMin, cutMax)
	w.strike(k, n, uint64(d), uint64(len(a)))
	w.at(w.now.Add(d), nil, w.cut(a, b, k == OneWay))
}

func (w *World) hitNode(k Kind, n *Node, r env.Random) {
	switch k {
	case Crash:
		if n.life != nil && w.mayFall() {
			w.strike(k, n, 0, 0)
			w.startLater(n, k)
			n.life.end(w.strikes(PowerLoss, n), "crash")
		}
	case Pause:
		if n.life != nil {
			d := between(r, pauseMin, pauseMax)
			w.strike(k, n, uint64(d), 0)
			n.Pause(d)
		}
	case WallJump:
		n.jump += between(r, -jumpMax, jumpMax)
		w.strike(k, n, uint64(n.jump), 0)
	case BitRot:
		w.rot(n, r)
	case DiskFull:
		d := between(r, cutMin, troubleMax)
		w.strike(k, n, uint64(d), 0)
		n.full = w.now.Add(d)
	case SlowDisk:
		d := between(r, cutMin, troubleMax)
		w.strike(k, n, uint64(d), 0)
		n.slow = w.now.Add(d)
	}
}

// mayFall reports whether one more node may be down.
func (w *World) mayFall() bool {
	if w.healed || w.opt.DownMax == 0 {
		return !w.healed
	}
	down := 0
	for _, n := range w.nodes {
		if n.life == nil {
			down++
		}
	}
	return down < w.opt.DownMax
}

// startLater schedules the restart of a node that a fault of kind k ended.
func (w *World) startLater(n *Node, k Kind) {
	w.at(w.now.Add(between(w.chance[k], downMin, downMax)), nil, &starter{n})
}

// rot flips a bit of durable data.
func (w *World) rot(n *Node, r env.Random) {
	if !n.rots {
		return
	}
	var files []*inode
	total := int64(0)
	var collect func(dir *inode)
	collect = func(dir *inode) {
		for _, name := range sortedNames(dir.durable) {
			switch i := dir.durable[name]; {
			case i.dir():
				collect(i)
			case i.safe.size > 0:
				files, total = append(files, i), total+i.safe.size
			}
		}
	}
	collect(n.disk.root)
	if total == 0 {
		return
	}
	at := int64(r.Uint64() % uint64(total))
	for _, i := range files {
		if at >= i.safe.size {
			at -= i.safe.size
			continue
		}
		i.flip(at, byte(1)<<env.IntN(r, 8))
		w.strike(BitRot, n, i.id, uint64(at))
		return
	}
}

// flip changes a bit of durable data; reads see it unless the sector has been
// written since.
func (i *inode) flip(at int64, bit byte) {
	var b [1]byte
	i.safe.get(b[:], at)
	b[0] ^= bit
	i.safe.put(b[:], at)
	for k := range i.pending {
		if o := &i.pending[k]; o.off/Sector <= at/Sector && at/Sector <= (o.end-1)/Sector {
			return
		}
	}
	if at < i.now.size {
		i.now.put(b[:], at)
	}
}
