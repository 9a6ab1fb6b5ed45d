// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"io/fs"
	"syscall"
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// How long disk operations take without faults, and the factor for a slow disk.
const (
	readMax  = 100 * time.Microsecond
	writeMax = 20 * time.Microsecond
	syncMin  = 200 * time.Microsecond
	syncMax  = 5 * time.Millisecond
	slowness = 50
)

// volume is a life's Disk: the node's disk, with time and faults.
type volume Life

var _ env.Disk = (*volume)(nil)

// begin starts every operation: it takes time, and the node may crash before
// the end.
func (v *volume) begin(k evKind, name string, least, most time.Duration) error {
	l := (*Life)(v)
	if l.dead {
		return fault("use", name, fs.ErrClosed)
	}
	n, w := l.node, l.node.w
	if l.suspend() {
		defer l.resume()
	}
	d := between(w.latency, least, most)
	if h := w.opt.Hardware; h != nil {
		d = h.wait(k)
	}
	if n.slow > l.now() {
		d *= slowness
	}
	l.spend(d)
	n.usage.Disk += d
	w.note(k, n, uint64(d), n.disk.ops, name)
	return v.dies()
}

// dies is a point within a disk operation at which a node may crash.
func (v *volume) dies() error {
	l := (*Life)(v)
	w := l.node.w
	if !w.mayFall() || !w.strikes(CrashInDisk, l.node) {
		return nil
	}
	w.startLater(l.node, CrashInDisk)
	l.die(w.strikes(PowerLoss, l.node), "crash in a disk operation")
	return nil
}

func (v *volume) disk() *Disk { return v.node.disk }

func (v *volume) full(op, name string) error {
	if v.node.full > (*Life)(v).now() {
		return full(op, name)
	}
	return nil
}

// create starts an operation that may create a file.
func (v *volume) create(name string, create bool) error {
	if err := v.begin(evName, name, 0, writeMax); err != nil {
		return err
	}
	if i, err := v.disk().find("open", name); create && err == nil && i == nil {
		return v.full("open", name)
	}
	return nil
}

func (v *volume) open(name string, create bool) (*volumeFile, error) {
	if err := v.create(name, create); err != nil {
		return nil, err
	}
	f, err := v.disk().open(name, create)
	if err != nil {
		return nil, err
	}
	return &volumeFile{v, f}, nil
}

func (v *volume) Open(name string, create bool) (env.File, error) {
	f, err := v.open(name, create)
	if err != nil {
		return nil, err
	}
	return f, v.dies()
}

func (v *volume) Rename(old, new string) error {
	if err := v.begin(evName, new, 0, writeMax); err != nil {
		return err
	}
	if err := v.disk().Rename(old, new); err != nil {
		return err
	}
	return v.dies()
}

func (v *volume) Remove(name string) error {
	if err := v.begin(evName, name, 0, writeMax); err != nil {
		return err
	}
	if err := v.disk().Remove(name); err != nil {
		return err
	}
	return v.dies()
}

func (v *volume) MakeDir(name string) error {
	if err := v.begin(evName, name, 0, writeMax); err != nil {
		return err
	}
	if err := v.full("mkdir", name); err != nil {
		return err
	}
	if err := v.disk().MakeDir(name); err != nil {
		return err
	}
	return v.dies()
}

func (v *volume) List(dir string) ([]string, error) {
	if err := v.begin(evName, dir, 0, readMax); err != nil {
		return nil, err
	}
	if v.node.w.strikes(ReadError, v.node) {
		return nil, fault("list", dir, syscall.EIO)
	}
	return v.disk().List(dir)
}

func (v *volume) SyncDir(dir string) error {
	if err := v.begin(evSync, dir, syncMin, syncMax); err != nil {
		return err
	}
	w := v.node.w
	if w.strikes(SyncError, v.node) {
		if chance(w.chance[SyncError], 0.5) {
			if err := v.disk().SyncDir(dir); err != nil {
				return err
			}
		}
		return fault("sync", dir, syscall.EIO)
	}
	if err := v.disk().SyncDir(dir); err != nil {
		return err
	}
	return v.dies()
}

// volumeFile is a file that a life has opened.
type volumeFile struct {
	v *volume
	f *file
}

func (f *volumeFile) ReadAt(b []byte, off int64) (int, error) {
	if err := f.v.begin(evRead, f.f.name, 0, readMax); err != nil {
		return 0, err
	}
	if f.v.node.w.strikes(ReadError, f.v.node) {
		return 0, fault("read", f.f.name, syscall.EIO)
	}
	return f.f.ReadAt(b, off)
}

func (f *volumeFile) WriteAt(b []byte, off int64) (int, error) {
	f.f.fits("write", b, off)
	if err := f.v.begin(evWrite, f.f.name, 0, writeMax); err != nil {
		return 0, err
	}
	if grow := off + int64(len(b)) - f.f.i.now.size; grow > 0 {
		if err := f.v.full("write", f.f.name); err != nil {
			// Write the part that fits.
			n, werr := f.f.write(b[:max(int64(len(b))-grow, 0)], off)
			if werr != nil {
				err = werr
			}
			return n, err
		}
	}
	n, err := f.f.write(b, off)
	if err != nil {
		return n, err
	}
	return n, f.v.dies()
}

func (f *volumeFile) Append(b []byte) error {
	_, err := f.WriteAt(b, f.f.i.now.size)
	return err
}

func (f *volumeFile) Size() (int64, error) {
	if f.v.dead {
		return 0, fault("stat", f.f.name, fs.ErrClosed)
	}
	return f.f.Size()
}

func (f *volumeFile) Truncate(size int64) error {
	return f.change("truncate", size, func() error { return f.f.Truncate(size) })
}

func (f *volumeFile) Sync() error {
	if err := f.v.begin(evSync, f.f.name, syncMin, syncMax); err != nil {
		return err
	}
	if err := f.f.check("sync", 0); err != nil {
		return err
	}
	n, i := f.v.node, f.f.i
	w := n.w
	if w.strikes(SyncError, n) {
		r := w.chance[SyncError]
		i.settle(&lottery{r: r, lose: true, reorder: true, tear: true, up: n.disk.ops})
		if chance(r, 0.5) { // the cache drops data that it wrongly takes for clean
			f.f.disk.used += i.safe.size - i.now.size
			i.now = i.safe.clone()
		}
		return fault("sync", f.f.name, syscall.EIO)
	}
	if n.rots && len(i.pending) > 0 {
		if stale, wrong := w.strikesSilently(StaleSector), w.strikesSilently(MisdirectedSector); stale || wrong {
			f.misplace(stale)
			return nil
		}
	}
	if err := f.f.Sync(); err != nil {
		return err
	}
	return f.v.dies()
}

// misplace is a sync that loses a sector or writes it to another place.
func (f *volumeFile) misplace(stale bool) {
	n, i := f.v.node, f.f.i
	w := n.w
	k := MisdirectedSector
	if stale {
		k = StaleSector
	}
	r := w.chance[k]
	var sectors []int64
	i.eachSector(func(s int64, _ []int, _ []uint64) { sectors = append(sectors, s) })
	var was, is [Sector]byte
	s := sectors[env.IntN(r, len(sectors))]
	i.safe.get(was[:], s*Sector)
	i.settle(all{})
	i.safe.get(is[:], s*Sector)
	to := int64(env.IntN(r, int((i.safe.size+Sector-1)/Sector)))
	if was == is || s*Sector >= i.safe.size || k == MisdirectedSector && to == s {
		return // nothing is lost
	}
	i.setSector(s, was[:])
	if k == MisdirectedSector {
		i.setSector(to, is[:])
	}
	w.strike(k, n, uint64(s), uint64(to))
}

// setSector changes a sector of both images, within the size of the file.
func (i *inode) setSector(s int64, b []byte) {
	b = b[:min(int64(len(b)), i.safe.size-s*Sector)]
	i.safe.put(b, s*Sector)
	i.now.put(b, s*Sector)
}

func (f *volumeFile) Close() error {
	if f.v.dead {
		return fault("close", f.f.name, fs.ErrClosed)
	}
	return f.f.Close()
}

// strikesSilently is strikes for a fault that may turn out to have no effect.
func (w *World) strikesSilently(k Kind) bool {
	rate := w.opt.Faults.rate[k]
	return rate > 0 && !w.healed && chance(w.chance[k], rate)
}

// lottery is the Fate of a crash under faults. A disk that loses writes keeps
// the operations before some moment; one that reorders keeps any subset; one
// that tears keeps any state of each sector.
type lottery struct {
	r                   env.Random
	lose, reorder, tear bool
	up                  uint64 // the last operation that may be kept
	lost, early, torn   bool   // which faults have struck
	coins               map[uint64]bool
	before              map[uint64]int // by file, to find torn operations
}

func (f *lottery) Keep(p Piece, ops []uint64) int {
	k := len(ops)
	if !f.lose {
		return k
	}
	switch {
	case f.tear && p.What == ContentPiece:
		k = env.IntN(f.r, len(ops)+1)
		key := ops[len(ops)-1]
		if was, seen := f.before[key]; seen && was != k {
			f.torn = true
		}
		if f.before == nil {
			f.before = map[uint64]int{}
		}
		f.before[key] = k
	case f.reorder:
		if f.coins == nil {
			f.coins = map[uint64]bool{}
		}
		for k = len(ops); k > 0; k-- {
			n := ops[k-1]
			kept, known := f.coins[n]
			if !known {
				kept = chance(f.r, 0.5)
				f.coins[n] = kept
			}
			if kept {
				break
			}
		}
		f.early = true
	default:
		k = KeepUpTo(f.up).Keep(p, ops)
	}
	f.lost = f.lost || k < len(ops)
	return k
}

// losePower decides what survives of a node's unsynced data.
func (w *World) losePower(n *Node) {
	d := n.disk
	if d.Unsynced() == 0 {
		d.Crash(all{})
		return
	}
	f := &lottery{r: w.chance[LoseWrite], lose: w.strikesSilently(LoseWrite),
		reorder: w.strikesSilently(ReorderWrite), tear: w.strikesSilently(TearWrite)}
	if f.lose {
		f.up = d.ops - uint64(env.IntN(f.r, 2*d.Unsynced()+1))
	}
	d.Crash(f)
	for _, x := range []struct {
		k   Kind
		was bool
	}{{LoseWrite, f.lost}, {ReorderWrite, f.early && f.lost}, {TearWrite, f.torn}} {
		if x.was {
			w.strike(x.k, n, f.up, 0)
		}
	}
}
