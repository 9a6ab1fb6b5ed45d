// SPDX-License-Identifier: Apache-2.0

//go:build unix

package store_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/evidence/procs"
	"github.com/ashlar-dev/ashlar/store"
)

// A process that writes is killed at random moments, again and again, on the file
// system of the machine. It writes a history of numbered batches; each time, the
// store must have exactly the batches up to some number, and all that were
// acknowledged as durable. Data that a process has written to files outlive it, so
// no batch that was found once may be missing later.

// killChildVar holds the orders of a process that exists to be killed.
const killChildVar = "ASHLAR_KILL_CHILD"

func TestMain(m *testing.M) {
	if orders := os.Getenv(killChildVar); orders != "" {
		if err := killChild([]byte(orders)); err != nil {
			fmt.Printf("failed %v\n", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if orders := os.Getenv(pressureVar); orders != "" {
		if err := pressureChild(orders); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir := os.Getenv(readerVar); dir != "" {
		if err := readerChild(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// killOrders are the instructions for a child.
type killOrders struct {
	Dir, Board string
	Durability store.Durability
	Seed, Life uint64
}

func (o killOrders) options() store.Options {
	t := store.Tuning{MemtableBytes: 128 << 10, LeafBytes: 64 << 10, Fanout: 4, Runs: 3, BlobBytes: 2 << 10, CacheBytes: 1 << 20}
	if o.Durability == store.ProcessCrash {
		t.MemtableBytes, t.LeafBytes = 2<<20, 256<<10 // some frames in each memtable
	}
	return store.Options{Memory: 64 << 20, Durability: o.Durability, Tuning: t}
}

// killChange is one change of a batch. Without a value it is a delete; with
// hi it is a range delete.
type killChange struct{ key, hi, value []byte }

// positionKey holds the number of the last batch.
const positionKey = "!position"

// killBatch returns the changes of the batch with a number, in a life.
func killBatch(seed, life, number uint64) []killChange {
	r := rand.New(rand.NewPCG(seed, life<<32|number))
	key := func() []byte { return fmt.Appendf(nil, "key%03d", r.IntN(400)) }
	changes := make([]killChange, 0, 5)
	for range 1 + r.IntN(4) {
		switch p := r.IntN(100); {
		case p < 20:
			changes = append(changes, killChange{key: key()})
		case p < 23:
			lo := r.IntN(400)
			changes = append(changes, killChange{key: fmt.Appendf(nil, "key%03d", lo), hi: fmt.Appendf(nil, "key%03d", lo+1+r.IntN(20))})
		default:
			n := r.IntN(600)
			if p >= 97 {
				n = 2<<10 + r.IntN(6<<10)
			}
			value := fmt.Appendf(nil, "%d.%d.", life, number)
			for len(value) < n {
				value = binary.LittleEndian.AppendUint64(value, r.Uint64())
			}
			changes = append(changes, killChange{key: key(), value: value})
		}
	}
	return append(changes, killChange{key: []byte(positionKey), value: strconv.AppendUint(nil, number, 10)})
}

// killApply does the changes of a batch to a map.
func killApply(model map[string]string, changes []killChange) {
	for _, c := range changes {
		switch {
		case c.hi != nil:
			maps.DeleteFunc(model, func(k, _ string) bool { return k >= string(c.key) && k < string(c.hi) })
		case c.value == nil:
			delete(model, string(c.key))
		default:
			model[string(c.key)] = string(c.value)
		}
	}
}

func killPosition(db *store.DB) (uint64, error) {
	v, err := db.Get([]byte(positionKey), nil)
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(string(v), 10, 64)
}

// killChild writes until it is killed. It prints what it found, which calls have
// returned, and what is durable.
func killChild(orders []byte) error {
	var o killOrders
	if err := json.Unmarshal(orders, &o); err != nil {
		return err
	}
	disk, err := osenv.OpenDisk(o.Dir)
	if err != nil {
		return err
	}
	b, err := openBoard(o.Board)
	if err != nil {
		return err
	}
	world := osenv.New()
	world.Disk = boardDisk{disk, b}
	db, err := store.Open(world, "db", o.options())
	if err != nil {
		return err
	}
	at, err := killPosition(db)
	if err != nil {
		return err
	}
	fmt.Printf("open %d\n", at)
	r := rand.New(rand.NewPCG(o.Seed, o.Life))
	for {
		at++
		batch := db.NewBatch()
		for _, c := range killBatch(o.Seed, o.Life, at) {
			switch {
			case c.hi != nil:
				batch.DeleteRange(c.key, c.hi)
			case c.value == nil:
				batch.Delete(c.key)
			default:
				batch.Put(c.key, c.value)
			}
		}
		p, said := r.IntN(1000), "returned"
		if o.Durability == store.ProcessCrash {
			p = r.IntN(400000) // so that frames become full
		}
		switch {
		case p < 15:
			err, said = db.Commit(batch, store.Sync), "durable"
		case p < 25:
			err, said = errors.Join(db.Commit(batch, store.NoSync), db.Sync()), "durable"
		case p < 28:
			err, said = errors.Join(db.Commit(batch, store.NoSync), db.Flush()), "durable"
		default:
			err = db.Commit(batch, store.NoSync)
		}
		if err != nil {
			return err
		}
		if o.Durability == store.EveryCommit {
			said = "durable"
		}
		fmt.Printf("%s %d\n", said, at)
	}
}

// killed describes a child that has ended.
type killed struct {
	opened            bool
	found             uint64 // where it began
	durable, returned uint64
	moment            moment
}

// killRun starts a child and kills it, after a while or some time after it
// has opened the store.
func killRun(t *testing.T, o killOrders, early bool, wait time.Duration) killed {
	t.Helper()
	orders, err := json.Marshal(o)
	must(t, err)
	must(t, os.WriteFile(o.Board, make([]byte, boardBytes), 0o600))
	b, err := openBoard(o.Board)
	must(t, err)
	defer b.close()
	child := procs.Start(t, procs.Self(t, killChildVar+"="+string(orders)))
	if early {
		defer time.AfterFunc(wait, child.Kill).Stop()
	}
	var k killed
	for line, ok := child.Next(); ok; line, ok = child.Next() {
		word, rest, _ := strings.Cut(line, " ")
		n, err := strconv.ParseUint(rest, 10, 64)
		switch {
		case word == "open" && err == nil:
			k.opened, k.found = true, n
			if !early {
				defer time.AfterFunc(wait, child.Kill).Stop()
			}
		case word == "durable" && err == nil:
			k.durable, k.returned = n, n
		case word == "returned" && err == nil:
			k.returned = n
		default:
			t.Errorf("life %d: the child says %q", o.Life, line)
		}
	}
	if status := child.State().String(); status != "signal: killed" {
		t.Errorf("life %d: the child ended by itself: %s", o.Life, status)
	}
	k.moment = b.moment()
	return k
}

// killCheck opens the store without writing, and returns the number of the last
// batch, which must be from durable to limit. The model is moved there from at.
func killCheck(t *testing.T, o killOrders, model map[string]string, at, durable, limit uint64) uint64 {
	t.Helper()
	disk, err := osenv.OpenDisk(o.Dir)
	must(t, err)
	defer disk.Close()
	world := osenv.New()
	world.Disk = disk
	options := o.options()
	options.ReadOnly = true
	db, err := store.Open(world, "db", options)
	if err != nil {
		t.Fatalf("life %d: the store does not open: %v", o.Life, err)
	}
	found, err := killPosition(db)
	must(t, err)
	if found < durable || found > limit {
		t.Fatalf("life %d: the last batch is %d; %d was durable, and %d the last that may have begun", o.Life, found, durable, limit)
	}
	for at < found {
		at++
		killApply(model, killBatch(o.Seed, o.Life, at))
	}
	check(t, db, model)
	report, err := db.Verify(context.Background())
	must(t, err)
	if err := report.Err(); err != nil {
		t.Fatalf("life %d: %v", o.Life, err)
	}
	must(t, db.Close())
	return found
}

// killRounds is how many children are killed, unless the environment says
// otherwise.
func killRounds(t *testing.T) int {
	rounds := 42
	if testing.Short() {
		rounds = 12
	}
	if s := os.Getenv("ASHLAR_KILL_ROUNDS"); s != "" {
		n, err := strconv.Atoi(s)
		must(t, err)
		rounds = n
	}
	return rounds
}

func TestKilledProcess(t *testing.T) {
	seed := uint64(1)
	if s := os.Getenv("ASHLAR_KILL_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		must(t, err)
		seed = n
	}
	rounds := killRounds(t)
	var total moment
	for i, d := range []store.Durability{store.SyncOnDemand, store.ProcessCrash, store.EveryCommit} {
		name := []string{"on demand", "process crash", "every commit"}[i]
		t.Run(name, func(t *testing.T) { total.add(killLoop(t, d, seed, (rounds+2)/3)) })
	}
	t.Logf("killed %+v", total)
	if rounds >= 40 && !t.Failed() {
		// Cases that must occur in so many rounds even on a slow machine.
		if total.Opened == 0 || total.Journal == 0 || total.Data == 0 || total.Checkpoints == 0 || total.Replayed == 0 {
			t.Errorf("kills missed what they are for: %+v", total)
		}
	}
}

// killLoop kills one store again and again.
func killLoop(t *testing.T, d store.Durability, seed uint64, rounds int) moment {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(seed, uint64(d)))
	model := map[string]string{}
	var total moment
	var at uint64
	var lost []uint64 // bytes of batches that had returned, where much was at stake
	for life := uint64(1); life <= uint64(rounds); life++ {
		o := killOrders{Dir: dir, Board: filepath.Join(dir, "board"), Durability: d, Seed: seed, Life: life}
		early := r.IntN(6) == 0 && life > 1
		wait := time.Duration(r.IntN(250)) * time.Millisecond
		switch {
		case early:
			wait /= 5
		case d == store.ProcessCrash:
			wait *= 2
		}
		k := killRun(t, o, early, wait)
		if t.Failed() {
			t.FailNow()
		}
		if k.opened && k.found != at {
			t.Fatalf("life %d: opened at batch %d; a reader had found %d in the same files", life, k.found, at)
		}
		if !k.opened && life == 1 {
			t.Fatal("the first child never opened the store")
		}
		found := killCheck(t, o, model, at, max(at, k.durable), max(at, k.returned)+1)
		if stake := killBytes(o, max(at, k.durable), k.returned); stake > killStake {
			lost = append(lost, killBytes(o, found, k.returned))
		}
		if k.opened {
			total.Opened++
		}
		if found > k.durable && found > at {
			total.Replayed++
		}
		total.add(k.moment)
		at = found
	}
	if at == 0 {
		t.Error("no batch was ever found")
	}
	slices.Sort(lost)
	if n := len(lost); d == store.ProcessCrash && n >= 3 && lost[n/2] > killLostMax {
		t.Errorf("of more than %d bytes each that had returned these were lost, want half of them up to %d: %d", killStake, killLostMax, lost)
	}
	t.Logf("%d batches in %d lives, %d keys; bytes lost where more than %d were at stake: %d", at, rounds, len(model), killStake, lost)
	return total
}

// killLostMax is the usual maximum that ProcessCrash may lose: the piece that is
// being filled, and changes that arrive while one is being written. It may be more
// when the write waits for a superblock, or for a busy machine.
const (
	killLostMax = 3 * store.FrameBytes
	killStake   = 4 * store.FrameBytes
)

// killBytes is the size of the batches in (from, to].
func killBytes(o killOrders, from, to uint64) (n uint64) {
	for i := from + 1; i <= to; i++ {
		for _, c := range killBatch(o.Seed, o.Life, i) {
			n += uint64(len(c.key) + len(c.hi) + len(c.value))
		}
	}
	return n
}

// moment counts what children were doing when they were killed.
type moment struct {
	Opened   int // the store
	Replayed int // more was found than was acknowledged as durable
	// A write or sync was on its way.
	Journal, Data int
	// Checkpoints had written data, but not the superblock that says so.
	Checkpoints int
}

func (m *moment) add(o moment) {
	m.Opened += o.Opened
	m.Replayed += o.Replayed
	m.Journal += o.Journal
	m.Data += o.Data
	m.Checkpoints += o.Checkpoints
}

// board is memory that a child shares with its parent, and that outlives the child:
// counts of the calls to the disk that have begun and ended.
type board struct{ words []byte }

const (
	journalBegun = iota
	journalEnded
	dataBegun
	dataEnded
	dataSinceSuper // data was written since the last superblock
	boardWords
	boardBytes = 4096
)

func openBoard(name string) (*board, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	words, err := unix.Mmap(int(f.Fd()), 0, boardBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return &board{words}, err
}

func (b *board) close() { _ = unix.Munmap(b.words) }

func (b *board) word(i int) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&b.words[8*i])) }

func (b *board) moment() (m moment) {
	if b.word(journalBegun).Load() != b.word(journalEnded).Load() {
		m.Journal = 1
	}
	if b.word(dataBegun).Load() != b.word(dataEnded).Load() {
		m.Data = 1
	}
	if b.word(dataSinceSuper).Load() != 0 {
		m.Checkpoints = 1
	}
	return m
}

// boardDisk is a disk that notes on the board what it does.
type boardDisk struct {
	*osenv.Disk
	board *board
}

func (d boardDisk) Open(name string, create bool) (env.File, error) {
	f, err := d.Disk.Open(name, create)
	return d.note(name, f), err
}

func (d boardDisk) OpenDirect(name string, create bool) (env.File, bool, error) {
	f, direct, err := d.Disk.OpenDirect(name, create)
	return d.note(name, f), direct, err
}

func (d boardDisk) note(name string, f env.File) env.File {
	s, ok := f.(env.SpaceFile)
	if !ok {
		return f
	}
	n := notedFile{SpaceFile: s, board: d.board, begun: journalBegun, ended: journalEnded}
	if strings.HasPrefix(filepath.Base(name), "DATA") {
		n.begun, n.ended, n.data = dataBegun, dataEnded, true
	}
	return n
}

type notedFile struct {
	env.SpaceFile
	board        *board
	begun, ended int
	data         bool
}

// superAddr says that superblocks are at 0 and at 1 MiB, as the format does.
func superAddr(off int64) bool { return off == 0 || off == 1<<20 }

func (f notedFile) WriteAt(b []byte, off int64) (int, error) {
	f.board.word(f.begun).Add(1)
	defer f.board.word(f.ended).Add(1)
	n, err := f.SpaceFile.WriteAt(b, off)
	if f.data {
		since := uint64(1)
		if superAddr(off) {
			since = 0
		}
		f.board.word(dataSinceSuper).Store(since)
	}
	return n, err
}

func (f notedFile) Sync() error {
	f.board.word(f.begun).Add(1)
	defer f.board.word(f.ended).Add(1)
	return f.SpaceFile.Sync()
}
