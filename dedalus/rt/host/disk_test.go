// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/host"
	"github.com/ashlar-dev/ashlar/dedalus/rt/internal/raw"
	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/store/wal"
)

// pairs is a component that keeps what it is told on the disk, in two rows that are
// there together or not at all, and tells the leader a tick later that it has it.
type pairs struct {
	next, in []string
	kept     map[string]bool
}

func (p *pairs) Deliver(relation int, row []byte) error {
	if relation != relAsk {
		return fmt.Errorf("relation %d", relation)
	}
	p.in = append(p.in, string(row))
	return nil
}
func (p *pairs) Timer(int)     {}
func (p *pairs) Pending() bool { return len(p.next) > 0 }
func (p *pairs) Tick(out *rt.Out) {
	for _, row := range p.next {
		out.Sent = append(out.Sent, rt.Sent{To: "leader/0", Relation: relYes, Row: []byte(row)})
	}
	p.next = p.next[:0]
	for _, row := range p.in {
		p.kept["a"+row], p.kept["b"+row] = true, true
		out.Changes = append(out.Changes, rt.Change{Relation: relKept, Row: []byte("a" + row)}, rt.Change{Relation: relKept, Row: []byte("b" + row)})
		p.next = append(p.next, row)
	}
	p.in = nil
}
func (p *pairs) Resend(*rt.Out) {}
func (p *pairs) Restore(c rt.Change) error {
	if c.Relation != relKept || len(c.Row) == 0 {
		return errors.New("no row of kept")
	}
	p.kept[string(c.Row)] = true
	return nil
}
func (p *pairs) Snapshot(out *rt.Out) {
	for _, row := range slices.Sorted(mapKeys(p.kept)) {
		out.Changes = append(out.Changes, rt.Change{Relation: relKept, Row: []byte(row)})
	}
}

func mapKeys(m map[string]bool) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// torn says which row is there without the other.
func (p *pairs) torn() error {
	for k := range p.kept {
		if other := string(rune('a'+'b'-k[0])) + k[1:]; !p.kept[other] {
			return fmt.Errorf("%.20q is kept, and %.20q is not", k, other)
		}
	}
	return nil
}

// keeper is voter/0 on a disk, in the hands of a test.
type keeper struct {
	*stand
	pairs *pairs
	err   error // of Open
}

const keeperSegment = 16 << 10

func newKeeper(t standTB, disk env.Disk, node string) *keeper {
	p := &pairs{kept: map[string]bool{}}
	return newKeeperOf(t, disk, node, p, p)
}

// newKeeperOf is a keeper that runs a component, which keeps what p has.
func newKeeperOf(t standTB, disk env.Disk, node string, comp rt.Component, p *pairs) *keeper {
	k := &keeper{stand: &stand{t: t, now: 1}, pairs: p}
	k.p = voteProgram()
	k.p.Components[1].New = func(rt.Identity, map[string][][]byte) (rt.Component, error) { return comp, nil }
	world := env.Env{Clock: k, Random: env.Seeded(1), Network: k, Disk: disk, Tracer: env.NoTrace{}}
	if k.err = host.Format(world, "log", k.p, node); k.err != nil && !errors.Is(k.err, wal.ErrExists) {
		return k
	}
	k.h, k.err = host.Open(host.Options{Env: world, Tasks: k, Program: k.p, Component: 1, Who: rt.Identity{Node: node, Self: node}, Listen: "here",
		Peers: map[string]env.Addr{node: "here", "leader/0": "there"}, ResendEvery: -1, Dir: "log", LogSegment: keeperSegment, CheckpointBytes: 24 << 10,
		Fatal: func(err error) { k.ended = err }})
	if k.err == nil {
		k.run()
	}
	return k
}

// keeperRow is the row of a number, some longer than a sector and some than a page.
func keeperRow(i int) string { return fmt.Sprintf("row %d %s", i, strings.Repeat("x", i%7*i%7*300)) }

// work has it keep rows, one batch after the other, and answers how many of them were
// acknowledged.
func (k *keeper) work(rows int) (acked int) {
	h := asClient("leader/0")
	h.Role, h.Program, h.To = raw.Instance, k.p.Hash, "voter/0"
	c := k.connect()
	if c == nil {
		return 0
	}
	c.say(raw.AppendHello(nil, &h), 0)
	for i := range rows {
		c.say(batchOf(uint64(i+1), wire.AppendMessage(nil, relAsk, []byte(keeperRow(i)))), 0)
		k.run()
		k.pass(2 * host.AckAfterDefault)
	}
	if f, ok := c.last(raw.TypeAck); ok {
		seq, err := wire.DecodeAck(f.Payload)
		if err != nil {
			k.t.Fatal(err)
		}
		return int(seq)
	}
	return 0
}

// has says that the first rows are there, and which is not.
func (k *keeper) has(rows int) error {
	for i := range rows {
		if row := keeperRow(i); !k.pairs.kept["a"+row] || !k.pairs.kept["b"+row] {
			return fmt.Errorf("row %d was acknowledged, and is not there", i)
		}
	}
	return k.pairs.torn()
}

// failing is a disk on which an operation fails, and, being full, all that write
// after it.
type failing struct {
	env.Disk
	at    int // of the operation that fails; 0: none
	full  bool
	count int
	first string // the operation that has failed first
}

var errFailing = errors.New("the disk of the test fails")

func (d *failing) step(op string) error {
	d.count++
	if d.at == 0 || d.count < d.at || d.count > d.at && !d.full {
		return nil
	}
	if d.full {
		if op == "sync" || op == "open" {
			return nil
		}
		d.first = max(d.first, op)
		return fmt.Errorf("%s: %w", op, syscall.ENOSPC)
	}
	d.first = op
	return fmt.Errorf("%s: %w", op, errFailing)
}

func (d *failing) Open(name string, create bool) (env.File, error) {
	if err := d.step("open"); err != nil {
		return nil, err
	}
	f, err := d.Disk.Open(name, create)
	if err != nil {
		return nil, err
	}
	return &failingFile{f, d}, nil
}
func (d *failing) Lock(name string) (io.Closer, error) { return d.Disk.(env.LockDisk).Lock(name) }
func (d *failing) Rename(a, b string) error {
	if err := d.step("rename"); err != nil {
		return err
	}
	return d.Disk.Rename(a, b)
}
func (d *failing) MakeDir(n string) error {
	if err := d.step("mkdir"); err != nil {
		return err
	}
	return d.Disk.MakeDir(n)
}
func (d *failing) SyncDir(n string) error {
	if err := d.step("sync"); err != nil {
		return err
	}
	return d.Disk.SyncDir(n)
}

type failingFile struct {
	env.File
	d *failing
}

func (f *failingFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.d.step("write"); err != nil {
		n, _ := f.File.WriteAt(b[:len(b)/2], off) // in part
		return n, err
	}
	return f.File.WriteAt(b, off)
}
func (f *failingFile) Append(b []byte) error {
	if err := f.d.step("write"); err != nil {
		return err
	}
	return f.File.Append(b)
}
func (f *failingFile) Truncate(n int64) error {
	if err := f.d.step("write"); err != nil {
		return err
	}
	return f.File.Truncate(n)
}
func (f *failingFile) Sync() error {
	if err := f.d.step("sync"); err != nil {
		return err
	}
	return f.File.Sync()
}

func openDisk(t *testing.T, dir string) env.Disk {
	t.Helper()
	disk, err := osenv.OpenDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	return disk
}

// TestFailingDisk: each operation of a real disk fails in turn, alone or as on a full
// disk. The instance says so and ends, acknowledges nothing that is not durable, and
// goes on from what is there when the disk works again.
func TestFailingDisk(t *testing.T) {
	const rows = 8
	seen := map[string]int{}
	for _, full := range []bool{false, true} {
		for at := 1; ; at++ {
			disk := &failing{Disk: openDisk(t, t.TempDir()), at: at, full: full}
			k := newKeeper(t, disk, "voter/0")
			acked := 0
			if k.err == nil {
				acked = k.work(rows)
			}
			failed := disk.first
			switch {
			case k.err != nil && failed == "":
				t.Fatalf("operation %d: not opened, though nothing has failed: %v", at, k.err)
			case k.err == nil && failed != "" && k.ended == nil && acked < rows:
				t.Errorf("operation %d, %s: it has not ended, and has acknowledged %d", at, failed, acked)
			case k.ended != nil && !errors.Is(k.ended, errFailing) && !errors.Is(k.ended, syscall.ENOSPC):
				t.Errorf("operation %d, %s: ended with %v", at, failed, k.ended)
			}
			if k.ended != nil {
				seen[failed]++
				before := k.h.Status().Counts
				if k.work(3) != 0 || k.h.Status().Counts.Delivered != before.Delivered {
					t.Errorf("operation %d, %s: it goes on", at, failed)
				}
			}
			if k.err == nil {
				_ = k.h.Close() // it may fail, too
			}
			disk.at = 0
			again := newKeeper(t, disk, "voter/0")
			if again.err != nil {
				// What a failed Format has left is no log, and says so.
				if k.err == nil {
					t.Errorf("operation %d, %s: not opened again: %v", at, failed, again.err)
				}
			} else {
				if err := again.has(acked); err != nil {
					t.Errorf("operation %d, %s: %v", at, failed, err)
				}
				if err := again.h.Close(); err != nil {
					t.Error(err)
				}
			}
			if disk.first == "" { // there are no more operations
				if acked != rows || at < 40 {
					t.Errorf("%d rows were acknowledged with %d operations", acked, at)
				}
				break
			}
		}
	}
	if seen["sync"] == 0 || seen["write"] == 0 {
		t.Errorf("ended by failing %v", seen)
	}
}

// files are the files of a directory, by name.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	m := map[string][]byte{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		rel, relErr := filepath.Rel(dir, name)
		m[rel] = b
		return errors.Join(err, relErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func writeFiles(t *testing.T, m map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range m {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestDamagedLog: each file of a log on a real disk is cut off, and changed, in many
// places. What is opened has both rows of a pair or none; where something is missing
// that is no torn end, it is not opened, and a file is named. Nothing panics.
func TestDamagedLog(t *testing.T) {
	dir := t.TempDir()
	k := newKeeper(t, openDisk(t, dir), "voter/0")
	const rows = 8
	if k.err != nil || k.work(rows) != rows {
		t.Fatal("the log was not written", k.err)
	}
	if err := k.h.Close(); err != nil {
		t.Fatal(err)
	}
	whole := files(t, dir)
	var all []string
	for i := range rows {
		all = append(all, keeperRow(i))
	}
	opened, refused := 0, 0
	try := func(what, name string, b []byte) {
		t.Helper()
		m := map[string][]byte{}
		for n, was := range whole {
			m[n] = was
		}
		if m[name] = b; b == nil {
			delete(m, name)
		}
		disk, err := osenv.OpenDisk(writeFiles(t, m))
		if err != nil {
			t.Fatal(err)
		}
		defer disk.Close()
		k := newKeeper(t, disk, "voter/0")
		if k.err != nil {
			if refused++; !strings.Contains(k.err.Error(), "log") {
				t.Errorf("%s of %s: refused without a place: %v", what, name, k.err)
			}
			return
		}
		opened++
		if err := k.pairs.torn(); err != nil {
			t.Errorf("%s of %s: %v", what, name, err)
		}
		for row := range k.pairs.kept {
			if i := slices.IndexFunc(all, func(r string) bool { return r == row[1:] }); i < 0 {
				t.Errorf("%s of %s: %.30q was never kept", what, name, row)
			}
		}
		if err := k.h.Close(); err != nil {
			t.Errorf("%s of %s: %v", what, name, err)
		}
	}
	for name, b := range whole {
		if len(b) == 0 {
			continue
		}
		for i := range 10 {
			at := len(b) * i / 10
			try(fmt.Sprintf("%d bytes", at), name, b[:at:at])
			damaged := bytes.Clone(b)
			damaged[at] ^= 0x40
			try(fmt.Sprintf("a bit at %d", at), name, damaged)
		}
		try("nothing", name, nil)
		try("twice", name, append(bytes.Clone(b), b...))
	}
	if opened == 0 || refused == 0 {
		t.Errorf("%d were opened and %d refused", opened, refused)
	}
}

// TestRotInTheMiddle: a bit that changes in what was acknowledged, with records after
// it, is not taken for a torn end: the instance is not opened without them.
func TestRotInTheMiddle(t *testing.T) {
	dir := t.TempDir()
	k := newKeeper(t, openDisk(t, dir), "voter/0")
	if k.err != nil || k.work(4) != 4 {
		t.Fatal("the log was not written", k.err)
	}
	if err := k.h.Close(); err != nil {
		t.Fatal(err)
	}
	whole := files(t, dir)
	found := 0
	for name, b := range whole {
		at := bytes.Index(b, []byte("arow 1 "))
		if at < 0 {
			continue
		}
		found++
		m := map[string][]byte{}
		for n, was := range whole {
			m[n] = was
		}
		m[name] = bytes.Clone(b)
		m[name][at+2] ^= 1
		disk := openDisk(t, writeFiles(t, m))
		again := newKeeper(t, disk, "voter/0")
		if again.err == nil {
			t.Errorf("%s: opened without what was acknowledged", name)
			again.h.Close()
		}
	}
	if found == 0 {
		t.Error("the row is in no file")
	}
}

// TestOtherDirectories: the directory of another node, and what is no directory of a
// log, are refused by name and left as they are.
func TestOtherDirectories(t *testing.T) {
	dir := t.TempDir()
	other := newKeeper(t, openDisk(t, dir), "voter/1")
	if other.err != nil {
		t.Fatal(other.err)
	}
	if err := other.h.Close(); err != nil {
		t.Fatal(err)
	}
	theirs := files(t, dir)
	for name, m := range map[string]map[string][]byte{
		"another node's": theirs,
		"a file":         {"log": []byte("not a directory")},
		"other files":    {"log/README": []byte("somebody's"), "log/data": make([]byte, 4096)},
	} {
		at := writeFiles(t, m)
		k := newKeeper(t, openDisk(t, at), "voter/0")
		if name == "other files" && k.err == nil {
			// A directory may be there; what is in it is not touched.
			if err := k.h.Close(); err != nil {
				t.Error(err)
			}
		} else if k.err == nil || !strings.Contains(k.err.Error(), "log") {
			t.Errorf("%s: %v", name, k.err)
		}
		after := files(t, at)
		for n, b := range m {
			// The superblock counts how often the log was opened, by whomever.
			if !bytes.Equal(after[n], b) && n != "log/SUPER" {
				t.Errorf("%s: %s was changed", name, n)
			}
		}
	}
	for _, n := range []int{0, 5, 11, 13, 4096} {
		disk := openDisk(t, writeFiles(t, map[string][]byte{"inc/INCARNATION": make([]byte, n)}))
		if got, err := host.Incarnation(env.Env{Disk: disk}, "inc", 0); err == nil || !strings.Contains(err.Error(), "INCARNATION is damaged") {
			t.Errorf("%d from %d bytes, %v", got, n, err)
		}
	}
	disk := openDisk(t, t.TempDir())
	if n, err := host.Incarnation(env.Env{Disk: disk}, "inc", host.IncarnationMax); n != host.IncarnationMax || err != nil {
		t.Error(n, err)
	}
	if n, err := host.Incarnation(env.Env{Disk: disk}, "inc", 0); err == nil || !strings.Contains(err.Error(), "limit is") {
		t.Error(n, err)
	}
}

// chain logs a row in each of many ticks after it was asked, and in the next tick says
// that it has.
type chain struct {
	pairs
	at, until int
}

func (c *chain) Deliver(_ int, row []byte) error { c.until += len(row); return nil }
func (c *chain) Pending() bool                   { return c.at < c.until || len(c.next) > 0 }
func (c *chain) Tick(out *rt.Out) {
	if c.at < c.until {
		c.in = append(c.in, fmt.Sprint(c.at))
		c.at++
	}
	c.pairs.Tick(out)
}

// TestAhead: ticks that log one after the other share syncs, and what they say has been
// logged is on the disk when it is said, whichever operation of the disk fails.
func TestAhead(t *testing.T) {
	const ticks = 200
	for at := 0; ; at++ {
		disk := &failing{Disk: openDisk(t, t.TempDir())}
		k := newKeeper(t, disk, "voter/0")
		if k.err != nil {
			t.Fatal(k.err)
		}
		if err := k.h.Close(); err != nil {
			t.Fatal(err)
		}
		c := &chain{pairs: pairs{kept: map[string]bool{}}}
		k = newKeeperOf(t, disk, "voter/0", c, &c.pairs)
		if k.err != nil {
			t.Fatal(k.err)
		}
		disk.count, disk.at = 0, at
		h := asClient("leader/0")
		h.Role, h.Program, h.To = raw.Instance, k.p.Hash, "voter/0"
		in := k.connect()
		in.say(raw.AppendHello(nil, &h), 0)
		in.say(batchOf(1, wire.AppendMessage(nil, relAsk, make([]byte, ticks))), 0)
		k.run()
		said := 0
		if len(k.dialled) > 0 {
			d := k.dialled[0]
			d.h.Opened(d)
			d.say(raw.AppendWelcome(nil, &raw.Welcome{Life: 1, Node: "leader/0", Window: 1 << 20}), 0)
			k.run()
			for _, f := range d.said {
				if f.Type == raw.TypeBatch {
					_, m, err := wire.Batch(f.Payload)
					if err != nil {
						t.Fatal(err)
					}
					for _, _, ok := m.Next(); ok; _, _, ok = m.Next() {
						said++
					}
				}
			}
		}
		counts := k.h.Status().Counts
		failed := disk.first != ""
		_ = k.h.Close()
		disk.at = 0
		again := newKeeper(t, disk, "voter/0")
		if again.err != nil {
			t.Fatal(again.err)
		}
		for i := range said {
			if !again.pairs.kept["a"+fmt.Sprint(i)] {
				t.Fatalf("operation %d: %d were said to be kept, and %d is not", at, said, i)
			}
		}
		if err := errors.Join(again.pairs.torn(), again.h.Close()); err != nil {
			t.Error(err)
		}
		if failed && k.ended == nil {
			t.Errorf("operation %d: it goes on", at)
		}
		if !failed && (said != ticks || counts.Commits > ticks/20 || counts.Ticks < ticks) {
			t.Errorf("%d were said, with %d syncs in %d ticks", said, counts.Commits, counts.Ticks)
		}
		if at > 0 && !failed {
			if at < 5 {
				t.Errorf("%d operations", at)
			}
			return
		}
	}
}
