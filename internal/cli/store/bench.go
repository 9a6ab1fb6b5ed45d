// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/store"
)

const benchHelp = `Bench measures the store on this machine: it loads records in a random order, reads
them at random, reads absent keys, scans, and commits durably one by one. For each
it prints the percentiles of the latencies.

It uses one goroutine, and random bytes as values, which do not compress. If the
records fit into the store's memory, reads come from its cache: use more records, or
less --memory, to measure the disk. The figures are those of this run and this machine;
'go -C bench run ./kv' in a clone of the repository compares the store with other
stores on equal terms.

DIR must not exist: it is created, and removed afterwards.

Exit codes: 0 measured; 130 interrupted; 1 files; 2 usage.`

// benchOptions are the flags of store bench.
type benchOptions struct {
	shared
	records int64
	value   int
	seconds float64
}

func newBenchCommand(t *console.Terminal) *cobra.Command {
	var o benchOptions
	cmd := &cobra.Command{
		Use:   "bench [DIR]",
		Short: "Measure the store on this machine",
		Long:  benchHelp,
		Example: `  ashlar store bench
  ashlar store bench --records 5000000 --memory 256M /mnt/disk/bench
  ashlar store bench --json | jq '.phases[].p99'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runBench(cmd.Context(), t, o, args)
		},
	}
	o.flags(cmd, "ashlar-store-bench/1")
	f := cmd.Flags()
	f.Int64Var(&o.records, "records", 500_000, "load `N` records")
	f.IntVar(&o.value, "value", 512, "`BYTES` of a value")
	f.Float64Var(&o.seconds, "seconds", 3, "measure each kind of read, and commits, for `S` seconds")
	return cmd
}

// benchReport is the result of store bench as JSON.
type benchReport struct {
	Schema             string       `json:"schema"`
	Dir                string       `json:"dir"`
	Records            int64        `json:"records"`
	ValueBytes         int          `json:"valueBytes"`
	MemoryBytes        int64        `json:"memoryBytes"`
	FileBytes          int64        `json:"fileBytes"`
	WriteAmplification float64      `json:"writeAmplification"` // of the load
	Phases             []benchPhase `json:"phases"`
}

// benchPhase is one measurement. Latencies are in microseconds.
type benchPhase struct {
	Name      string  `json:"name"`
	Ops       int64   `json:"ops"`
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"perSecond"`
	P50       float64 `json:"p50"`
	P99       float64 `json:"p99"`
	P999      float64 `json:"p999"`
	Max       float64 `json:"max"`
}

func runBench(ctx context.Context, t *console.Terminal, o benchOptions, args []string) error {
	switch {
	case o.records < 1 || o.records > 1<<40:
		return exit.With(exit.Usage, fmt.Errorf("--records %d: want a positive number", o.records))
	case o.value < 0 || o.value > 1<<20:
		return exit.With(exit.Usage, fmt.Errorf("--value %d: want 0 to %d", o.value, 1<<20))
	case o.seconds <= 0:
		return exit.With(exit.Usage, fmt.Errorf("--seconds %g: want a positive number", o.seconds))
	}
	dir, remove, err := benchDir(args)
	if err != nil {
		return exit.Failed(err)
	}
	defer remove()
	report, err := measure(ctx, t, o, dir)
	switch {
	case ctx.Err() != nil:
		return exit.Stopped(ctx)
	case err != nil:
		return exit.Failed(err)
	case o.json:
		return t.JSON(report)
	}
	return exit.Failed(report.print(t))
}

// benchDir makes the directory to measure in.
func benchDir(args []string) (dir string, remove func(), err error) {
	if len(args) == 0 {
		dir, err = os.MkdirTemp("", "ashlar-bench-")
	} else {
		dir = args[0]
		if _, err := os.Lstat(dir); err == nil {
			return "", nil, fmt.Errorf("%s: exists, and would be removed at the end: name a new directory", dir)
		}
		err = os.MkdirAll(dir, 0o755)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, err
}

func (r *benchReport) print(t *console.Terminal) error {
	w := t.Out
	fmt.Fprintf(w, "%s records of %d bytes, %s MiB of memory, data file of %s MB\n", console.Count(r.Records), r.ValueBytes, console.Count(r.MemoryBytes>>20), console.Count(r.FileBytes/1e6))
	fmt.Fprintf(w, "%-10s %12s %12s %10s %10s %10s %10s\n", "", "operations", "per second", "p50 us", "p99 us", "p99.9 us", "max us")
	for _, p := range r.Phases {
		fmt.Fprintf(w, "%-10s %12s %12s %10.1f %10.1f %10.1f %10.1f\n", p.Name, console.Count(p.Ops), console.Count(int64(p.PerSecond)), p.P50, p.P99, p.P999, p.Max)
	}
	fmt.Fprintf(w, "write amplification of the load: %.2f\n", r.WriteAmplification)
	_, err := fmt.Fprintf(w, "for a comparison with other stores: go -C bench run ./kv\n")
	return err
}

// bench is a store being measured.
type bench struct {
	ctx    context.Context
	db     *store.DB
	o      benchOptions
	random *rand.Rand
	key    [16]byte
	value  []byte
	report *benchReport
}

func measure(ctx context.Context, t *console.Terminal, o benchOptions, dir string) (*benchReport, error) {
	disk, err := osenv.OpenDisk(dir)
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	world := osenv.New()
	world.Disk = disk
	db, err := store.Open(world, "db", o.options())
	if err != nil {
		return nil, err
	}
	b := &bench{ctx: ctx, db: db, o: o, random: rand.New(rand.NewPCG(1, 2)), value: make([]byte, o.value), report: &benchReport{
		Schema: "ashlar-store-bench/1", Dir: dir, Records: o.records, ValueBytes: o.value, MemoryBytes: o.memory.Bytes,
	}}
	p := console.NewPalette(t.ErrTTY)
	say := func(what string) {
		if t.ErrTTY && !o.quiet {
			fmt.Fprintf(t.Err, "\r\x1b[K%s", p.Dim(what))
		}
	}
	defer say("")
	for _, phase := range []struct {
		name string
		do   func(*hdrhistogram.Histogram, func() bool) (int64, error)
		long bool // has an end of its own
	}{
		{"load", b.load, true}, {"settle", b.settle, true}, {"get", b.get, false}, {"absent", b.absent, false}, {"scan", b.scan, false}, {"commit", b.commit, false},
	} {
		if ctx.Err() != nil {
			break
		}
		say(phase.name)
		if err := b.phase(phase.name, phase.long, phase.do); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	m := db.Metrics()
	b.report.FileBytes = m.FileBytes
	return b.report, db.Close()
}

// phase measures operations until the time is over or all are done.
func (b *bench) phase(name string, long bool, do func(*hdrhistogram.Histogram, func() bool) (int64, error)) error {
	h := hdrhistogram.New(1, int64(time.Hour), 3) // nanoseconds
	start := time.Now()
	limit := time.Duration(b.o.seconds * float64(time.Second))
	ops, err := do(h, func() bool {
		return b.ctx.Err() == nil && (long || time.Since(start) < limit)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	seconds := time.Since(start).Seconds()
	us := func(q float64) float64 { return float64(h.ValueAtQuantile(q)) / 1e3 }
	b.report.Phases = append(b.report.Phases, benchPhase{Name: name, Ops: ops, Seconds: seconds, PerSecond: float64(ops) / max(seconds, 1e-9),
		P50: us(50), P99: us(99), P999: us(99.9), Max: float64(h.Max()) / 1e3})
	return nil
}

// timed runs one operation and records its latency.
func timed(h *hdrhistogram.Histogram, do func() error) error {
	start := time.Now()
	err := do()
	_ = h.RecordValue(max(int64(time.Since(start)), 1)) // an hour is out of range
	return err
}

// keyOf returns the key of record n, existing or not. It permutes the numbers,
// so that neighbouring keys are written at different times.
func (b *bench) keyOf(n uint64, absent bool) []byte {
	x := (n + 1) * 0x9E3779B97F4A7C15
	x ^= x >> 32
	binary.BigEndian.PutUint64(b.key[:], x)
	binary.BigEndian.PutUint64(b.key[8:], n<<1)
	if absent {
		b.key[15] |= 1
	}
	return b.key[:]
}

// fill makes random bytes.
func (b *bench) fill() {
	for i := 0; i+8 <= len(b.value); i += 8 {
		binary.LittleEndian.PutUint64(b.value[i:], b.random.Uint64())
	}
}

func (b *bench) load(h *hdrhistogram.Histogram, more func() bool) (n int64, err error) {
	for n = 0; n < b.o.records && (n&1023 != 0 || more()); n++ {
		b.fill()
		key := b.keyOf(uint64(n), false)
		if err := timed(h, func() error { return b.db.Put(key, b.value) }); err != nil {
			return n, err
		}
	}
	return n, nil
}

// settle waits for the background work that the load has left.
func (b *bench) settle(h *hdrhistogram.Histogram, _ func() bool) (int64, error) {
	err := timed(h, func() error { return errors.Join(b.db.Flush(), b.db.Wait()) })
	m := b.db.Metrics()
	b.report.WriteAmplification = m.WriteAmplification()
	return 1, err
}

func (b *bench) get(h *hdrhistogram.Histogram, more func() bool) (n int64, err error) {
	var dst []byte
	for ; n&63 != 0 || more(); n++ {
		key := b.keyOf(b.random.Uint64N(uint64(b.o.records)), false)
		if err := timed(h, func() error { dst, err = b.db.Get(key, dst[:0]); return err }); err != nil {
			return n, err
		}
	}
	return n, nil
}

func (b *bench) absent(h *hdrhistogram.Histogram, more func() bool) (n int64, err error) {
	for ; n&63 != 0 || more(); n++ {
		key := b.keyOf(b.random.Uint64N(uint64(b.o.records)), true)
		if err := timed(h, func() error { _, err := b.db.Get(key, nil); return err }); !errors.Is(err, store.ErrNotFound) {
			return n, fmt.Errorf("a key that is absent: %w", err)
		}
	}
	return n, nil
}

// scan measures steps of iterators, 1000 at a time.
func (b *bench) scan(h *hdrhistogram.Histogram, more func() bool) (n int64, err error) {
	for more() {
		it, err := b.db.Iter(nil, nil)
		if err != nil {
			return n, err
		}
		ok := it.SeekGE(b.keyOf(b.random.Uint64N(uint64(b.o.records)), false))
		for range 1000 {
			if !ok {
				break
			}
			n++
			_ = timed(h, func() error { _ = it.Value(); ok = it.Next(); return nil })
		}
		if err := it.Close(); err != nil {
			return n, err
		}
	}
	return n, nil
}

func (b *bench) commit(h *hdrhistogram.Histogram, more func() bool) (n int64, err error) {
	batch := b.db.NewBatch()
	for ; more(); n++ {
		b.fill()
		batch.Reset()
		batch.Put(b.keyOf(b.random.Uint64N(uint64(b.o.records)), false), b.value)
		if err := timed(h, func() error { return b.db.Commit(batch, store.Sync) }); err != nil {
			return n, err
		}
	}
	return n, nil
}
