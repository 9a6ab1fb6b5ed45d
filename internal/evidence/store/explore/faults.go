// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"bytes"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/env"
)

// faults runs the workload with one fault at a time: in operation at evenly
// spread opportunities, and in recovery from images of evenly spread moments.
func (x *explorer) faults() {
	if x.o.Fault != "" {
		x.only()
		return
	}
	count := x.operate(nil)
	if x.failure != nil {
		return
	}
	opportunities := map[FaultKind]int{
		WriteError: count.disk.writes, SyncError: count.disk.syncs, FullDisk: count.disk.growths,
	}
	for k := FlipBit; k <= ReadDead; k++ {
		opportunities[k] = count.disk.reads
	}
	for k := FlipBit; k < faultKinds; k++ {
		if x.o.kind != NoFault && x.o.kind != k {
			continue
		}
		for at := range spread(opportunities[k], x.o.FaultRuns, x.o.Seed) {
			x.operate(newFault(k, at, x.o.Seed))
			if x.failure != nil {
				return
			}
		}
	}
	x.recoveries(func(_ int, k FaultKind, _ int) bool { return x.o.kind == NoFault || x.o.kind == k })
}

// only replays the fault that Options.Fault names.
func (x *explorer) only() {
	name, rest, _ := strings.Cut(x.o.Fault, ":")
	k, err := faultOf(name)
	at, image, again := strings.Cut(rest, ":")
	n, err2 := strconv.Atoi(at)
	if err = errors.Join(err, err2); err != nil {
		x.fail(&Failure{Subject: x.o.Subject.Name(), Profile: x.o.Profile.Name, Seed: x.o.Seed, Fault: x.o.Fault, Err: fmt.Errorf("%q is no KIND:NUMBER or KIND:NUMBER:IMAGE: %w", x.o.Fault, err)})
		return
	}
	if again {
		x.recoveries(func(i int, k2 FaultKind, at int) bool { return fmt.Sprint(i) == image && k2 == k && at == n })
		return
	}
	x.operate(newFault(k, n, x.o.Seed))
}

// spread returns at most n of total numbers, evenly spaced, from a random start.
func spread(total, n int, seed uint64) func(func(int) bool) {
	step := max((total+n-1)/max(n, 1), 1)
	return func(yield func(int) bool) {
		for i := int(seed % uint64(step)); i < total; i += step {
			if !yield(i) {
				return
			}
		}
	}
}

// faulty is a session with a fault.
type faulty struct {
	*session
	x        *explorer
	fault    *Fault
	name     string
	done     bool // the store is no longer usable
	relieved bool // the full disk has room again: it explains no further error
	// waited reports that Wait was called last, and witnessed that the disk therefore has
	// a witness of what was acknowledged last.
	waited, witnessed bool
}

// failed records a failure.
func (f *faulty) failed(err error) {
	f.x.fail(&Failure{
		Subject: f.subject.Name(), Profile: f.x.o.Profile.Name, Seed: f.x.o.Seed, Fault: f.name,
		During: f.fault.Where, Acked: f.acked, Trail: f.story(), Ops: f.x.o.Ops, Err: err,
	})
}

// explained reports whether the fault may have caused an error.
func (f *faulty) explained(err error) bool {
	return f.fault.Struck && !f.relieved && (errors.Is(err, errStruck) || errors.Is(err, errFull) || f.subject.Explains(err))
}

// operate runs the workload with a fault, and checks the state that a crash after it
// leaves. It returns the session, whose disk has counted all opportunities.
func (x *explorer) operate(fault *Fault) *session {
	f := &faulty{x: x, fault: fault}
	if fault == nil {
		f.fault = &Fault{}
	}
	f.name = fmt.Sprintf("%s:%d", f.fault.Kind, f.fault.At)
	f.session = newSession(x.o.Subject, marks(x.report.Coverage), NewDisk(), newHistory(x.keys, 0, nil))
	f.scan = &x.scanner
	f.disk.fault = f.fault
	defer f.abandon()
	defer func() {
		if r := recover(); r != nil {
			f.failed(fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	x.report.Opens++
	if err, bad := f.open(); !f.accepts(err, bad) {
		return f.session
	} else if err != nil {
		f.done = true
	}
	for i := range x.o.Ops {
		if f.done || x.failure != nil {
			break
		}
		f.step(&x.o.Ops[i])
	}
	if f.fault.Struck {
		x.report.Coverage["fault "+f.fault.Kind.String()]++
	}
	x.report.Reads += f.reads
	if x.failure == nil {
		f.crashAfter()
	}
	return f.session
}

// accepts reports whether the result of an operation is permitted, and records the
// failure if it is not.
func (f *faulty) accepts(err, bad error) bool {
	if bad == nil && err != nil && !f.explained(err) {
		bad = fmt.Errorf("an error that the fault (struck: %v) does not explain: %w", f.fault.Struck, err)
	}
	if bad != nil {
		f.failed(bad)
	}
	return bad == nil
}

// step does one operation with a fault.
func (f *faulty) step(o *Op) {
	if o.Kind.restarts() && FlipBit <= f.fault.Kind && f.fault.Kind <= WrongPage {
		return // what damage does to a recovery is seen in recoveries
	}
	if o.Kind == Kill && f.fault.Kind == SyncError && f.fault.Struck {
		f.done = true // what can be read now may be gone after a crash
		return
	}
	struck, promised := f.fault.Struck, f.acked
	err, bad := f.exec(o)
	if !f.accepts(err, bad) {
		return
	}
	now := f.fault.Struck && !struck
	switch {
	case f.fault.Kind == SyncError && f.fault.Struck:
		f.afterSync(o, err, now, promised)
	case err == nil:
	case o.Kind.restarts() || f.store == nil:
		f.done = true
	case o.Kind.Changes():
		f.resolve(o)
	}
	if f.done || f.x.failure != nil {
		return
	}
	switch {
	case f.fault.Kind == FullDisk && err != nil:
		f.afterFull(o)
	case f.fault.Kind == ReadOnce && now:
		f.lifted(o, err)
	}
}

// lifted: the fault is over, and the store has not stopped. The next Flush succeeds, and
// refused operations can be done now. A merge whose input could not be read is left out
// until the store is opened anew, and a call that requests it may report that.
func (f *faulty) lifted(o *Op, refused error) {
	f.relieved = true
	f.x.report.Coverage["lifted "+f.fault.Kind.String()]++
	ops := []Op{{Kind: Flush}}
	if refused != nil && (f.fault.Kind == FullDisk || o.Kind != Compact && o.Kind != Wait) {
		ops = append(ops, *o)
	}
	for _, o := range append(ops, Op{Kind: Sync}, Op{Kind: Scan}) {
		if err, bad := f.exec(&o); err != nil || bad != nil {
			f.failed(fmt.Errorf("%s, now that the fault is lifted: %w", &o, errors.Join(err, bad)))
			return
		}
	}
	f.relieved = f.fault.Kind == FullDisk
}

// usable: a store that was opened on a disk without faults takes a change, which is in
// the tree after a Flush.
func (f *faulty) usable(s *session) error {
	f.x.report.Coverage["usable after "+f.fault.Kind.String()]++
	key, value := []byte("usable"), []byte("again")
	if err := s.store.Commit([]Change{{Kind: Put, Key: key, Value: value}}, true, false); err != nil {
		return err
	}
	if err := s.store.Flush(); err != nil {
		return err
	}
	got, _, err := s.store.Get(key)
	if err == nil && !bytes.Equal(got, value) {
		err = fmt.Errorf("Get gives %q, want %q", got, value)
	}
	return err
}

// afterSync: a failed sync is not forgotten. The operation in which it struck
// promises nothing, and later ones are refused.
func (f *faulty) afterSync(o *Op, err error, now bool, promised int) {
	if now && o.Kind == Checkpoint && err != nil {
		f.done = true // it may be the copy's sync, which does not harm the store
		return
	}
	promises := o.Sync || f.subject.Durable(o.Kind)
	switch {
	case err != nil && now && o.Kind.Changes():
		f.resolve(o) // and from here on every change is refused
	case err != nil && now:
	case now && promises:
		f.acked = promised
		f.failed(fmt.Errorf("%s promises durability, though a sync has failed in it", o))
	case err == nil && !now && (promises || o.Kind.Changes()):
		f.failed(fmt.Errorf("%s is not refused after a sync has failed", o))
	case err != nil && o.Kind.Changes():
		f.h.undo() // refused: it must not appear
	}
	f.done = f.done || o.Kind.restarts()
}

// afterFull: reads work on a full disk. Deletes work too, or return an error and change
// nothing, because they also need space. When there is room again, everything works, and
// the refused operation succeeds.
func (f *faulty) afterFull(refused *Op) {
	if err, bad := f.scanAll(f.store, f.h.last); err != nil || bad != nil {
		f.failed(fmt.Errorf("reading from a full disk: %w", errors.Join(err, bad)))
		return
	}
	now := f.h.content(f.h.last)
	for i := range min(len(now), 3) {
		o := Op{Kind: Delete, Key: string(now[i].key)}
		err, bad := f.exec(&o)
		switch {
		case !f.accepts(err, bad):
			return
		case err == nil:
			f.x.report.Coverage["delete on a full disk"]++
		default:
			f.resolve(&o)
		}
	}
	f.disk.full = false
	f.lifted(refused, errFull)
}

// resolve finds out, with a reader, whether a change that returned an error was done. A
// change that is half done is a failure.
func (f *faulty) resolve(o *Op) {
	found, err := f.scan.scan(f.store)
	if err != nil {
		if f.accepts(err, nil) {
			f.done = true // no reader can tell: a crash now may leave either
		}
		return
	}
	last := f.h.last
	first, _, bad := f.h.moments(found, last-1, last)
	switch {
	case bad != nil:
		f.failed(fmt.Errorf("%s was answered with an error and is done in part: %w", o, bad))
	case first < last:
		f.h.undo()
	}
}

// crashAfter: whatever the fault was, a crash after it leaves the state of a moment of
// the history that is not before the last promise, or a store that reports what is wrong.
func (f *faulty) crashAfter() {
	d := f.disk
	d.fault = nil
	random := env.Seeded(f.x.o.Seed)
	whole := f.fault.Kind >= ReadOnce // nothing on the disk is damaged
	choices(d.units, 0, limits{0, 2, 0}, random, func(c choice) bool {
		if c.class == AllButOne || c.class == OnlyOne || c.class == Prefix {
			return true
		}
		cr := d.crashed(c, random)
		f.look(cr.disk(f.acked), whole, nil)
		return f.x.failure == nil
	})
}

// look opens the store on a disk, which is undamaged if whole is true, with or without a
// fault in recovery.
func (f *faulty) look(d *Disk, whole bool, fault *Fault) *session {
	s := newSession(f.subject, f.tracer, d, f.h)
	s.made, s.acked, s.before, s.scan = f.made, f.acked, f.before, f.scan
	d.fault = fault
	f.x.report.Opens++
	defer s.abandon()
	err, bad := s.open()
	if err == nil && bad == nil {
		err, bad = s.right(f.floor(fault))
	}
	if err == nil && bad == nil && whole && fault == nil {
		err = f.usable(s)
	}
	if whole && err != nil {
		bad = fmt.Errorf("after a crash, on a disk without faults: %w", err)
	}
	f.accepts(err, bad)
	f.x.report.Reads += s.reads
	return s
}

// floor is the earliest moment that may be found after damage. If only the part that was
// synced last is damaged and there is no witness, it looks like one that was never
// synced: then it may be missing. Anything older must be reported as missing.
func (f *faulty) floor(fault *Fault) int {
	if f.witnessed {
		return f.acked
	}
	for _, t := range []*Fault{f.fault, fault} {
		if t != nil && t.Struck && t.Kind <= WrongPage && f.before <= t.born && t.born < f.acked {
			return f.before
		}
	}
	return f.acked
}

// right checks everything that can be read: a scan or, if that fails, the result of Get
// for each key.
func (s *session) right(lo int) (err, bad error) {
	_, _, err, bad = s.recovered(lo, 1)
	if err == nil || bad != nil {
		return err, bad
	}
	// A part cannot be read. The readable part must still be of one moment.
	for p := s.h.last; p >= lo; p-- {
		if bad = s.partly(p); bad == nil {
			return err, nil
		}
	}
	return err, bad
}

// partly compares all keys that Get can read with a moment.
func (s *session) partly(pos int) error {
	for i, k := range s.h.keys {
		got, ok, err := s.store.Get([]byte(k))
		if err != nil {
			continue
		}
		want := s.h.at(i, pos)
		if ok != (want != nil) || ok && !bytes.Equal(got, want) {
			return fmt.Errorf("a part cannot be read, and of the rest Get(%q) gives %v %d bytes, want %s", k, ok, len(got), describe(want))
		}
	}
	return nil
}

// recoveries damages what recovery reads, in images of a few moments, where
// want says so.
func (x *explorer) recoveries(want func(image int, k FaultKind, at int) bool) {
	f := &faulty{x: x, fault: &Fault{}}
	f.session = newSession(x.o.Subject, marks(x.report.Coverage), NewDisk(), newHistory(x.keys, 0, nil))
	f.scan = &x.scanner
	defer f.abandon()
	err, bad := f.open()
	const images = 4
	every := max(len(x.o.Ops)/images, 1)
	for i := 0; i < len(x.o.Ops) && err == nil && bad == nil && x.failure == nil; i++ {
		if err, bad = f.exec(&x.o.Ops[i]); err != nil || bad != nil || i%every != every-1 {
			continue
		}
		s, ok := x.o.Subject.(Witnessing)
		if f.waited = ok && s.Witnesses() && i/every%2 == 0; f.waited {
			err, bad = f.exec(&Op{Kind: Wait})
		}
		if err == nil && bad == nil {
			f.damaged(i, want)
		}
	}
	f.name = "none:0"
	f.accepts(err, bad)
}

// damaged tries every kind of damage on the recovery from the present disk.
func (f *faulty) damaged(image int, want func(int, FaultKind, int) bool) {
	clean := f.look(f.disk.clone(), true, nil)
	f.halved()
	for k := FlipBit; k <= ReadDead && f.x.failure == nil; k++ {
		for at := range spread(clean.disk.reads, f.x.o.FaultRuns, f.x.o.Seed) {
			if !want(image, k, at) {
				continue
			}
			fault := newFault(k, at, mix(f.x.o.Seed, uint64(image)))
			f.fault, f.name = fault, fmt.Sprintf("%s:%d:%d", k, at, image)
			f.recoverWith(fault, image)
			if fault.Struck {
				f.x.report.Coverage["fault "+k.String()]++
			}
			if f.x.failure != nil {
				return
			}
		}
	}
	f.fault = &Fault{}
}

// halved damages, one at a time, the things that the store keeps twice. Nothing may be
// missing then.
func (f *faulty) halved() {
	s, ok := f.subject.(Doubled)
	if !ok || f.x.o.kind != NoFault {
		return
	}
	file, pages := s.Doubled()
	for _, at := range pages {
		d := f.disk.clone()
		i := d.names[home+"/"+file]
		if i == nil || slices.ContainsFunc(pages, func(p int64) bool { return i.now.at(p) == nil }) {
			return // not twice yet
		}
		p := &page{b: i.now.at(at).b}
		p.b[Sector/2] ^= 1
		i.now.set(at, p)
		i.safe.set(at, p)
		f.name = "none:0"
		f.look(d, true, nil)
		f.x.report.Coverage["one of two lost"]++
		if f.x.failure != nil {
			return
		}
	}
}

// recoverWith opens the store with a fault: on the disk as it is, or as a loss
// of power leaves it.
func (f *faulty) recoverWith(fault *Fault, image int) {
	defer func() {
		if r := recover(); r != nil {
			f.failed(fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	d := f.disk.clone()
	f.witnessed = f.waited
	defer func() { f.witnessed = false }()
	if random := env.Seeded(mix(f.x.o.Seed, uint64(image)<<32+uint64(fault.At))); random.Uint64()&1 == 0 {
		f.witnessed = false // a crash may take it
		keep := make([]bool, len(f.disk.units))
		for i := range keep {
			keep[i] = random.Uint64()&1 == 0
		}
		c := f.disk.crashed(choice{keep: keep, torn: -1}, random)
		d = c.disk(f.disk.epoch)
	}
	f.look(d, false, fault)
}
