// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// fate states what becomes of operations that were not synced when the power
// fails.
type fate uint8

const (
	// fateNone: nothing is kept but what was synced.
	fateNone fate = iota
	// fateAll: everything is kept.
	fateAll
	// fatePrefix: all operations up to one are kept, in the order in which
	// they were done, as by a disk that writes at once.
	fatePrefix
	// fateTorn: the same, and of the last write some sectors only.
	fateTorn
	// fatePages: each page of each file has what it had at some moment since
	// the last sync, as a machine does that writes its page cache back. Each
	// change of a name is kept or not.
	fatePages
	// fateSectors: the same by sectors.
	fateSectors
	fates
)

func (f fate) String() string {
	return [...]string{"none", "all", "prefix", "torn", "pages", "sectors"}[f]
}

// sectorSize is what a disk writes whole or not at all.
const sectorSize = 512

// resolve is the disk that is found after the power failure. It shares nothing
// with this one that either changes. The same disk, fate and chance give the
// same.
func (d *disk) resolve(f fate, r *rand.Rand) *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	moment := d.moment(r)
	after := &disk{nodes: map[uint64]*node{}, journalled: d.journalled, lastID: d.lastID}
	names := map[*node]map[string]*node{}
	for _, i := range d.nodes {
		if i.dir {
			names[i] = maps.Clone(i.safeNames)
		}
	}
	for _, o := range d.keptNames(f, moment, r) {
		o.apply(func(dir *node) map[string]*node { return names[dir] })
	}
	after.root = after.take(d.root, names, func(i *node) content { return i.resolve(f, d.journalled, moment, r) })
	return after
}

// take copies what can be reached from a node.
func (d *disk) take(i *node, names map[*node]map[string]*node, resolve func(*node) content) *node {
	if have := d.nodes[i.id]; have != nil {
		return have
	}
	out := &node{id: i.id, dir: i.dir}
	d.nodes[i.id] = out
	if !i.dir {
		out.live = resolve(i)
		out.safe = out.live.clone()
		return out
	}
	out.names = map[string]*node{}
	for _, name := range slices.Sorted(maps.Keys(names[i])) {
		out.names[name] = d.take(names[i][name], names, resolve)
	}
	out.safeNames = maps.Clone(out.names)
	return out
}

// copy is another disk with what is on this one, all of it durable.
func (d *disk) copy() *disk { return d.resolve(fateAll, nil) }

// waiting is how many operations are not durable.
func (d *disk) waiting() (data, names int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, i := range d.nodes {
		data += len(i.pending)
	}
	return data, len(d.names)
}

// moment draws one of the operations that are not durable.
func (d *disk) moment(r *rand.Rand) uint64 {
	var all []uint64
	for _, i := range d.nodes {
		for _, o := range i.pending {
			all = append(all, o.n)
		}
	}
	for _, o := range d.names {
		all = append(all, o.n)
	}
	if len(all) == 0 || r == nil {
		return 0
	}
	slices.Sort(all)
	return all[r.IntN(len(all))]
}

// keptNames are the changes of names that are found.
func (d *disk) keptNames(f fate, moment uint64, r *rand.Rand) []nameOp {
	switch f {
	case fateNone:
		return nil
	case fateAll:
		return d.names
	}
	if f == fatePages || f == fateSectors {
		if !d.journalled {
			return someNames(d.names, r)
		}
		if len(d.names) > 0 { // a journal has an order
			return d.names[:r.IntN(len(d.names)+1)]
		}
	}
	var kept []nameOp
	for _, o := range d.names {
		if o.n <= moment {
			kept = append(kept, o)
		}
	}
	return kept
}

// someNames draws changes; one is not kept without those before it of the same
// names.
func someNames(all []nameOp, r *rand.Rand) (kept []nameOp) {
	lost := map[place]bool{}
	part := r.Float64()
	for _, o := range all {
		keep := r.Float64() < part
		for _, p := range o.places() {
			keep = keep && !lost[p]
		}
		if keep {
			kept = append(kept, o)
			continue
		}
		for _, p := range o.places() {
			lost[p] = true
		}
	}
	return kept
}

// resolve is what a file holds after the power failure. Ordered says that the
// file system writes bytes before the size that makes them part of the file.
func (i *node) resolve(f fate, ordered bool, moment uint64, r *rand.Rand) content {
	c := i.safe.clone()
	switch f {
	case fateNone:
		return c
	case fateAll:
		return i.live.clone()
	case fatePrefix, fateTorn:
		for _, o := range i.pending {
			if o.n > moment {
				break
			}
			if f == fateTorn && o.n == moment && o.kind == opWrite {
				p := picker{c: &c, ordered: ordered}
				o.pieces(sectorSize, func(_, off, end int64) { p.piece(o, off, end, r.IntN(2) == 0) })
				break
			}
			o.apply(&c)
		}
		return c
	case fatePages:
		return i.scatter(c, pageSize, ordered, r)
	}
	return i.scatter(c, sectorSize, ordered, r)
}

func (o dataOp) apply(c *content) {
	switch o.kind {
	case opWrite:
		c.writeAt(o.data, o.off)
	case opZero:
		c.zero(o.off, o.end)
	case opGrow:
		c.truncate(max(c.size, o.size))
	case opShrink:
		c.truncate(min(c.size, o.size))
	}
}

// pieces calls each for the parts of a write or zeroing in units.
func (o dataOp) pieces(unit int64, each func(unit, off, end int64)) {
	for off := o.off; off < o.end; {
		end := min((off/unit+1)*unit, o.end)
		each(off/unit, off, end)
		off = end
	}
}

// picker applies parts of operations to a content. Where growth is in order, a
// part that would have made the file longer, and is lost, takes all such parts
// after it with it.
type picker struct {
	c       *content
	ordered bool
	stuck   bool
}

func (p *picker) piece(o dataOp, off, end int64, keep bool) {
	if p.ordered && o.kind == opWrite && end > p.c.size {
		p.stuck = p.stuck || !keep
		keep = !p.stuck
	}
	switch {
	case !keep:
	case o.kind == opWrite:
		p.c.writeAt(o.data[off-o.off:end-o.off], off)
	default:
		p.c.zero(off, end)
	}
}

// scatter keeps for each unit so many of the operations on it, in their order,
// as it draws. A file is made shorter in the journal of the file system: what
// was done after a shortening that is lost is lost as well.
func (i *node) scatter(c content, unit int64, ordered bool, r *rand.Rand) content {
	if len(i.pending) == 0 {
		return c
	}
	left, shrinks := i.draw(unit, r)
	kept := r.IntN(shrinks + 1)
	longest, long := c.size, r.IntN(3) == 0 && !ordered
	p := picker{c: &c, ordered: ordered}
	for _, o := range i.pending {
		switch o.kind {
		case opShrink:
			if kept == 0 {
				return c
			}
			kept--
			o.apply(&c)
			longest = c.size
		case opWrite, opZero:
			o.pieces(unit, func(u, off, end int64) {
				left[u]--
				p.piece(o, off, end, left[u] >= 0)
			})
		case opGrow:
			if r.IntN(2) == 0 && !(ordered && p.stuck) {
				o.apply(&c)
			} else {
				p.stuck = true // which matters where growth is in order
			}
		}
		longest = max(longest, o.size)
	}
	if long {
		c.truncate(max(c.size, longest)) // the size is there, the bytes are not
	}
	return c
}

// draw draws how many operations on each unit are kept, and counts the
// shortenings.
func (i *node) draw(unit int64, r *rand.Rand) (left map[int64]int, shrinks int) {
	none, all := r.Float64(), r.Float64() // how likely a unit has nothing new, else all
	touched := map[int64]int{}
	for _, o := range i.pending {
		switch o.kind {
		case opShrink:
			shrinks++
		case opWrite, opZero:
			o.pieces(unit, func(u, _, _ int64) { touched[u]++ })
		}
	}
	left = map[int64]int{}
	for _, u := range slices.Sorted(maps.Keys(touched)) {
		switch n := touched[u]; {
		case r.Float64() < none:
		case r.Float64() < all:
			left[u] = n
		default:
			left[u] = r.IntN(n + 1)
		}
	}
	return left, shrinks
}

// dump writes the tree to a directory of the machine, for a look at it.
func (d *disk) dump(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.root.dump(dir)
}

func (i *node) dump(name string) error {
	if !i.dir {
		f, err := os.Create(name)
		if err != nil {
			return err
		}
		err = f.Truncate(i.live.size)
		for n, p := range i.live.pages {
			if err == nil {
				_, err = f.WriteAt(p[:min(pageSize, i.live.size-n*pageSize)], n*pageSize)
			}
		}
		if e := f.Close(); err == nil {
			err = e
		}
		return err
	}
	if err := os.MkdirAll(name, 0o777); err != nil {
		return err
	}
	for _, sub := range slices.Sorted(maps.Keys(i.names)) {
		if err := i.names[sub].dump(filepath.Join(name, sub)); err != nil {
			return err
		}
	}
	return nil
}
