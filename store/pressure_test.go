// SPDX-License-Identifier: Apache-2.0

//go:build unix

package store_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/store"
)

// An attack on the bound of memory. Clients with little memory write small records,
// delete ranges, scan, and keep iterators open. Each client knows the expected
// results: it has an array with the number of the last change of each of its keys,
// which only it writes. No call may fail: waiting or a smaller cache provides any
// memory that is needed. After every life the store is opened again and read as a
// whole. It runs in a process of its own, whose memory the kernel reports: the test
// does not rely on the counters of the store.

// pressureVar holds the orders of such a process.
const pressureVar = "ASHLAR_PRESSURE"

var pressureFactor = flag.Int("pressure", 1, "how many times as much the attack on the bound of memory does")

// pressureOrders determine what a process does.
type pressureOrders struct {
	Dir      string
	Seed     uint64
	Memory   int64
	Memtable int // 0: what follows from Memory
	Clients  int
	Keys     int // of a client
	Value    int // bytes, at least 4
	Ops      int // of a client, in a life
	Lives    int
	Ordered  bool // puts go through the keys in order
	// Filled reports that each life begins with a put of each key, and that a snapshot
	// of them stays open through the life.
	Filled bool
	// The numbers of range deletes, deletes, gets and scans in a thousand
	// operations; the others are puts.
	Ranges, Deletes, Gets, Scans int
	// Iterators are kept open by each client, and moved now and then.
	Iterators int
	// Counted reports that the store's own count of its memory must also keep to
	// its bound: the bound of Memory leaves the Go heap some slack.
	Counted bool
	// Grouped requests a control group with the test's bound on memory.
	Grouped bool
}

// bound is how much memory the process may take.
func (o pressureOrders) bound() int64 { return o.Memory + o.Memory/10 }

// bounded reports whether the process is judged by its memory: with less than MemoryMin,
// the Go runtime takes more than the store, and so does the race detector.
func (o pressureOrders) bounded() bool { return o.Memory >= store.MemoryMin && !raced() }

// raced reports whether the race detector was built in.
func raced() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

func TestUnderPressure(t *testing.T) {
	attacks := map[string]pressureOrders{
		"small records in order": {Memory: 4 << 20, Memtable: 512 << 10, Clients: 1, Keys: 900_000, Value: 8, Ops: 900_000, Lives: 2, Ordered: true},
		"small records":          {Memory: store.MemoryMin, Clients: 2, Keys: 150_000, Value: 8, Ops: 500_000, Lives: 2, Gets: 20, Deletes: 50, Counted: true},
		"range deletes":          {Memory: store.MemoryMin, Clients: 1, Keys: 60_000, Value: 20, Ops: 40_000, Lives: 2, Ranges: 950, Gets: 10},
		"range deletes alone":    {Memory: store.MemoryMin, Clients: 1, Keys: 30_000, Value: 20, Ops: 40_000, Lives: 2, Ranges: 990, Gets: 10, Filled: true},
		"range deletes and scans": {
			Memory: store.MemoryMin, Clients: 4, Keys: 20_000, Value: 100, Ops: 20_000, Lives: 2, Ranges: 200, Gets: 100, Scans: 20, Iterators: 2,
		},
		"eight clients scan": {Memory: store.MemoryMin, Clients: 8, Keys: 12_000, Value: 800, Ops: 8_000, Lives: 2, Gets: 300, Scans: 50},
		"many iterators":     {Memory: store.MemoryMin, Clients: 4, Keys: 20_000, Value: 500, Ops: 20_000, Lives: 2, Iterators: 50},
	}
	if *pressureFactor > 1 {
		attacks["many times its memory"] = pressureOrders{
			Memory: store.MemoryMin, Clients: 1, Keys: 15_000 * *pressureFactor, Value: 500, Ops: 20_000, Lives: 2, Gets: 20, Ranges: 1,
		}
	}
	for name, o := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o.Ops *= *pressureFactor
			o.Grouped = *pressureFactor > 1 && o.bounded()
			if o.Value == 8 && *pressureFactor > 1 {
				// Fences and filters become longer than the memory.
				o.Memory, o.Memtable, o.Keys = store.MemoryMin, 0, o.Keys**pressureFactor
			}
			if testing.Short() {
				o.Ops /= 8
			}
			o.Seed = uint64(len(name))
			runPressure(t, o)
		})
	}
}

// runPressure runs a process with the orders, and checks it.
func runPressure(t *testing.T, o pressureOrders) {
	o.Dir = t.TempDir()
	orders, err := json.Marshal(o)
	must(t, err)
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), pressureVar+"="+string(orders))
	out, err := command.CombinedOutput()
	group := pressureGroup(command.Process.Pid)
	if _, there := os.Stat(group); there == nil {
		t.Logf("in a control group that has %d bytes of memory", o.bound())
		defer os.Remove(group)
	} else if o.Grouped {
		t.Log("without a control group, since none can be made here")
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var took int64
	if _, err := fmt.Sscanf(string(out), "took %d", &took); err != nil {
		t.Fatalf("%v: %q", err, out)
	}
	t.Logf("memory %d: the process took %d", o.Memory, took)
	if bound := o.bound(); o.bounded() && took > bound {
		t.Errorf("the process took %d bytes, with Memory %d it may %d", took, o.Memory, bound)
	}
}

// anonymous is the memory of the process that does not belong to files, in bytes; 0
// if the system does not report it.
func anonymous() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, _ := strconv.ParseInt(fields[0], 10, 64)
	return kib << 10
}

// pressureGroup is the directory of the control group of that process. Memory that
// a process had before it entered the group is not counted there.
func pressureGroup(pid int) string {
	const groups = "/sys/fs/cgroup"
	name := "ashlar-pressure-" + strconv.Itoa(pid)
	if _, err := os.Stat(groups + "/memory/memory.limit_in_bytes"); err == nil {
		return groups + "/memory/" + name
	}
	return groups + "/" + name
}

// enterPressureGroup puts the process into a control group with that much memory; if it must not make
// one, the process stays where it is.
func enterPressureGroup(limit int64) {
	group := pressureGroup(os.Getpid())
	if os.Mkdir(group, 0o755) != nil {
		return
	}
	for _, file := range []string{"memory.limit_in_bytes", "memory.max"} {
		f, err := os.OpenFile(group+"/"+file, os.O_WRONLY, 0)
		if err != nil {
			continue
		}
		_, err = fmt.Fprint(f, limit)
		if errors.Join(err, f.Close()) == nil && os.WriteFile(group+"/cgroup.procs", []byte(strconv.Itoa(os.Getpid())), 0) == nil {
			return
		}
	}
	_ = os.Remove(group)
}

// pressureChild does the orders and prints how much memory that took.
func pressureChild(orders string) error {
	var o pressureOrders
	if err := json.Unmarshal([]byte(orders), &o); err != nil {
		return err
	}
	disk, err := osenv.OpenDisk(o.Dir)
	if err != nil {
		return err
	}
	clients := make([]*pressureClient, o.Clients)
	for i := range clients {
		clients[i] = newPressureClient(o, i)
	}
	if runtime.GC(); o.Grouped {
		enterPressureGroup(o.bound())
	}
	before := anonymous()
	var peak atomic.Int64
	ended, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		for {
			peak.Store(max(peak.Load(), anonymous()))
			select {
			case <-ended:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	for life := range o.Lives {
		if err := pressureLife(disk, o, clients, life); err != nil {
			return fmt.Errorf("life %d: %w", life, err)
		}
	}
	close(ended)
	<-watched
	fmt.Printf("took %d\n", peak.Load()-before)
	return disk.Close()
}

func pressureLife(disk env.Disk, o pressureOrders, clients []*pressureClient, life int) error {
	w := world(disk, o.Seed+uint64(life))
	db, err := store.Open(w, "db", store.Options{
		Memory: o.Memory, Durability: store.Durability(life % 2), Tuning: store.Tuning{MemtableBytes: o.Memtable},
	})
	if err != nil {
		return err
	}
	errs := make([]error, len(clients))
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			if errs[i] = c.check(db); errs[i] == nil {
				errs[i] = c.live(db)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, what := range []struct {
		name string
		do   func() error
	}{
		{"flush", db.Flush},
		{"check", func() error { return clients[0].check(db) }},
		{"compact", func() error { return db.Compact(nil, nil) }},
		{"wait", db.Wait},
		{"check again", func() error { return clients[len(clients)-1].check(db) }},
	} {
		if err := what.do(); err != nil {
			return fmt.Errorf("%s: %w", what.name, err)
		}
	}
	if m := db.Metrics(); o.Counted && m.MemoryPeak > m.MemoryLimit {
		return fmt.Errorf("%d bytes were in use at one time, the bound is %d", m.MemoryPeak, m.MemoryLimit)
	}
	return db.Close()
}

// pressureClient is a client and its knowledge. Only it writes its keys.
type pressureClient struct {
	o      pressureOrders
	number int
	r      *rand.Rand
	change uint32
	// last is the number of the change that gave each key its value, 0: none.
	last       []uint32
	key, value []byte
	next       int
	open       []pressureIter
	scan       pressureIter
}

// pressureIter is an iterator, and the keys that it has still to find: those from
// at on, up or down, each with its last change when the iterator was opened. Its
// memory is allocated once.
type pressureIter struct {
	it   *store.Iterator // nil: it is closed
	want []uint32
	at   int
	back bool
}

// pressureSteps is how many keys an iterator passes.
const pressureSteps = 500

// settle continues to the next key that has a value.
func (p *pressureIter) settle() {
	for len(p.want) > 0 && p.want[0] == 0 {
		p.pass()
	}
}

func (p *pressureIter) pass() {
	p.want = p.want[1:]
	if p.at++; p.back {
		p.at -= 2
	}
}

// unscanned allocates that many numbers outside the Go heap: inside, the collector
// would let the heap grow in proportion to them.
func unscanned(n int) []uint32 {
	b, err := syscall.Mmap(-1, 0, 4*max(n, 1), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return make([]uint32, n)
	}
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

func newPressureClient(o pressureOrders, number int) *pressureClient {
	c := &pressureClient{
		o: o, number: number, r: rand.New(rand.NewPCG(o.Seed, uint64(number))), last: unscanned(o.Keys),
		key: make([]byte, 8), value: make([]byte, o.Value), open: make([]pressureIter, o.Iterators),
	}
	clear(c.last) // so that its memory is taken before the store's
	for i := range c.open {
		c.open[i].want = make([]uint32, pressureSteps)
	}
	return c
}

// keyOf is the key of a number, in the client's own range.
func (c *pressureClient) keyOf(n int) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(c.number)<<32|uint64(n))
}

func (c *pressureClient) valueOf(n int, change uint32) []byte {
	v := c.value
	clear(v)
	for at := 0; at+4 <= len(v); at += 4 {
		binary.LittleEndian.PutUint32(v[at:], change+uint32(at)*uint32(n))
	}
	return v
}

func (c *pressureClient) live(db *store.DB) error {
	if c.o.Filled {
		for n := range c.o.Keys {
			if err := c.put(db, n); err != nil {
				return err
			}
		}
		defer db.Snapshot().Close()
	}
	for i := range c.o.Ops {
		if err := c.step(db); err != nil {
			return fmt.Errorf("client %d, operation %d: %w", c.number, i, err)
		}
	}
	for i := range c.open {
		if c.open[i].it != nil {
			if err := c.walk(&c.open[i], pressureSteps); err != nil {
				return fmt.Errorf("client %d, at the end: %w", c.number, err)
			}
		}
	}
	return nil
}

func (c *pressureClient) step(db *store.DB) error {
	if len(c.open) > 0 && c.r.IntN(20) == 0 {
		if err := c.iterate(db, &c.open[c.r.IntN(len(c.open))]); err != nil {
			return err
		}
	}
	n := c.r.IntN(c.o.Keys)
	p := c.r.IntN(1000)
	for i, weight := range []int{c.o.Ranges, c.o.Deletes, c.o.Gets, c.o.Scans} {
		if p -= weight; p >= 0 {
			continue
		}
		switch i {
		case 0:
			hi := min(n+1+c.r.IntN(8), c.o.Keys)
			if err := db.DeleteRange(c.keyOf(n), c.keyOf(hi)); err != nil {
				return fmt.Errorf("delete range: %w", err)
			}
			clear(c.last[n:hi])
		case 1:
			if err := db.Delete(c.keyOf(n)); err != nil {
				return fmt.Errorf("delete: %w", err)
			}
			c.last[n] = 0
		case 2:
			return c.get(db, n)
		case 3:
			if err := c.openAt(db, &c.scan, n, 200); err != nil {
				return err
			}
			return c.walk(&c.scan, pressureSteps)
		}
		return nil
	}
	if c.o.Ordered {
		n, c.next = c.next%c.o.Keys, c.next+1
	}
	return c.put(db, n)
}

func (c *pressureClient) put(db *store.DB, n int) error {
	c.change++
	if err := db.Put(c.keyOf(n), c.valueOf(n, c.change)); err != nil {
		return fmt.Errorf("put: %w", err)
	}
	c.last[n] = c.change
	return nil
}

func (c *pressureClient) get(db *store.DB, n int) error {
	v, err := db.Get(c.keyOf(n), nil)
	switch {
	case errors.Is(err, store.ErrNotFound) && c.last[n] == 0:
		return nil
	case err != nil:
		return fmt.Errorf("get %d: %w", n, err)
	case c.last[n] == 0 || !bytes.Equal(v, c.valueOf(n, c.last[n])):
		return fmt.Errorf("get %d: %x, want that of change %d", n, v, c.last[n])
	}
	return nil
}

// iterate moves an iterator on, or opens it.
func (c *pressureClient) iterate(db *store.DB, p *pressureIter) error {
	if p.it == nil {
		return c.openAt(db, p, c.r.IntN(c.o.Keys), pressureSteps)
	}
	return c.walk(p, 1+c.r.IntN(50))
}

// openAt opens an iterator over the client's keys, at the key n; it is to pass
// so many keys.
func (c *pressureClient) openAt(db *store.DB, p *pressureIter, n, keys int) (err error) {
	if p.it, err = db.Iter(c.keyOf(0), c.keyOf(c.o.Keys)); err != nil {
		return fmt.Errorf("iter: %w", err)
	}
	p.at, p.back, p.want = n, c.r.IntN(3) == 0, p.want[:0]
	if cap(p.want) < pressureSteps {
		p.want = make([]uint32, 0, pressureSteps)
	}
	step := 1
	if p.back {
		step = -1
	}
	for at := n; at >= 0 && at < c.o.Keys && len(p.want) < keys; at += step {
		p.want = append(p.want, c.last[at])
	}
	p.settle()
	if p.back {
		return c.stands(p, p.it.SeekLT(c.keyOf(n+1)))
	}
	return c.stands(p, p.it.SeekGE(c.keyOf(n)))
}

// stands checks the position of the iterator.
func (c *pressureClient) stands(p *pressureIter, ok bool) error {
	if err := p.it.Err(); err != nil {
		return fmt.Errorf("move: %w", err)
	}
	if !ok {
		if len(p.want) > 0 {
			return fmt.Errorf("a scan ends before key %d", p.at)
		}
		return nil
	}
	if len(p.want) == 0 {
		return nil // it may go on, beyond the recorded keys
	}
	if !bytes.Equal(p.it.Key(), c.keyOf(p.at)) || !bytes.Equal(p.it.Value(), c.valueOf(p.at, p.want[0])) {
		return fmt.Errorf("a scan finds %x: %x, want key %d of change %d", p.it.Key(), p.it.Value(), p.at, p.want[0])
	}
	return nil
}

// walk goes that many steps on, and closes the iterator when it has found all.
func (c *pressureClient) walk(p *pressureIter, steps int) error {
	for range steps {
		if len(p.want) == 0 {
			break
		}
		// The key at which it is must still be there, however long ago it moved.
		if err := c.stands(p, true); err != nil {
			return err
		}
		p.pass()
		p.settle()
		ok := false
		if p.back {
			ok = p.it.Prev()
		} else {
			ok = p.it.Next()
		}
		if err := c.stands(p, ok); err != nil {
			return err
		}
	}
	if len(p.want) > 0 {
		return nil
	}
	err := p.it.Close()
	p.it = nil
	return err
}

// check reads all keys of the client.
func (c *pressureClient) check(db *store.DB) error {
	it, err := db.Iter(c.keyOf(0), c.keyOf(c.o.Keys))
	if err != nil {
		return err
	}
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		for n < c.o.Keys && c.last[n] == 0 {
			n++
		}
		if n == c.o.Keys || !bytes.Equal(it.Key(), c.keyOf(n)) || !bytes.Equal(it.Value(), c.valueOf(n, c.last[n])) {
			return fmt.Errorf("client %d: found %x: %x, want key %d", c.number, it.Key(), it.Value(), n)
		}
		n++
	}
	for n < c.o.Keys && c.last[n] == 0 {
		n++
	}
	if err := it.Close(); err != nil {
		return fmt.Errorf("client %d: read all: %w", c.number, err)
	}
	if n < c.o.Keys {
		return fmt.Errorf("client %d: key %d is missing", c.number, n)
	}
	return nil
}
