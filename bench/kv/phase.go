// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// spec is what the parent sends to a child: one engine, one phase.
type spec struct {
	Engine, Workload string
	Dir              string // of the engine; the ledger is beside it
	Format           format
	Settings         settings
	Records          int64 // to load
	Ops              int64
	Limit            time.Duration // operations stop after it
	Left             time.Duration // settling stops when so much has gone by since the start
	Seed             uint64
	HeapLimit        int64
	// Crash ends the process by a kill as soon as the records are durable or
	// handed to the system.
	Crash bool
}

// measure is what one phase of one engine came to. Bytes and CPU are those of
// the whole process, threads in the background included.
type measure struct {
	Ops, Wanted int64   // measured, and asked for
	Seconds     float64 // the final sync included
	Records     int64   // in the store at the end
	UserBytes   int64   // keys and values written
	Latency     []latency
	CPUSeconds  float64
	Written     int64 // bytes that the process caused to be written to storage
	Read        int64 // bytes that it had storage read
	Touched     int64 // records read, each counted once
	// The work that is left when the phase ends, until nothing goes on.
	SettleSeconds, SettleCPUSeconds float64
	SettleWritten                   int64
	Settled                         bool
	OpenSeconds                     float64
	PeakRSS                         int64
}

// latency is the distribution of one kind of operation, in microseconds.
type latency struct {
	Kind                 string
	Count                int64
	P50, P99, P999, Most float64
}

// line is what a child writes to its standard output, one JSON value a line.
type line struct {
	Progress int64    `json:",omitempty"`
	Stage    string   `json:",omitempty"`
	Result   *measure `json:",omitempty"`
	Error    string   `json:",omitempty"`
}

// childArg is the argument by which the program knows that it is a child.
const childArg = "run-one-phase"

// childMain reads a spec, runs it and reports. The parent holds the input open
// as long as it lives: a child without a parent has no recipient for its
// report.
func childMain(in io.Reader, out io.Writer) int {
	var s spec
	decoder := json.NewDecoder(in)
	if err := decoder.Decode(&s); err != nil {
		fmt.Fprintln(os.Stderr, "read the phase:", err)
		return 2
	}
	go func() {
		io.Copy(io.Discard, in)
		os.Exit(3)
	}()
	var mu sync.Mutex
	encoder := json.NewEncoder(out)
	report := func(l line) {
		mu.Lock()
		defer mu.Unlock()
		encoder.Encode(l) // a parent that is gone ends this process
	}
	m, err := runPhase(s, report)
	if err != nil {
		report(line{Error: err.Error()})
		return 1
	}
	report(line{Result: m})
	return 0
}

// phase is a run of a spec.
type phase struct {
	spec
	start   time.Time
	load    workload
	engine  engine
	ledger  *ledger
	store   store
	clients []*client
	done    atomic.Int64
	stopped atomic.Bool
	result  measure
}

func runPhase(s spec, report func(line)) (*measure, error) {
	if err := pin(s.Settings.CPUs); err != nil {
		return nil, err
	}
	runtime.GOMAXPROCS(s.Settings.CPUs)
	debug.SetMemoryLimit(s.HeapLimit)
	e, err := engineNamed(s.Engine)
	if err != nil {
		return nil, err
	}
	return measurePhase(s, e, report)
}

// measurePhase runs a phase in this process.
func measurePhase(s spec, e engine, report func(line)) (*measure, error) {
	p := &phase{spec: s, engine: e, start: time.Now()}
	var ok bool
	if p.load, ok = workloadNamed(s.Workload); !ok {
		return nil, fmt.Errorf("no workload is called %q", s.Workload)
	}
	if err := p.openLedger(); err != nil {
		return nil, err
	}
	end := make(chan struct{})
	defer close(end)
	go p.watch(end, report)
	return &p.result, p.run(report)
}

// watch reports how far the phase is.
func (p *phase) watch(end chan struct{}, report func(line)) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-end:
			return
		case <-tick.C:
			report(line{Progress: p.done.Load()})
		}
	}
}

func (p *phase) ledgerFile() string { return p.Dir + ".ledger" }

// fresh reports whether the phase begins with an empty store.
func (p *phase) fresh() bool { return p.Workload == "load" || p.Crash }

func (p *phase) openLedger() (err error) {
	if p.fresh() {
		p.ledger = newLedger(uint64(p.Records), p.Settings.Clients)
		return nil
	}
	more := int64(0)
	for _, s := range p.load.Mix {
		if s.Kind == opInsert {
			// Twice what is expected, and some: room, not a promise.
			more = p.Ops*int64(s.Percent)/50 + 1000
		}
	}
	p.ledger, err = loadLedger(p.ledgerFile(), uint64(more), p.Settings.Clients)
	return err
}

func (p *phase) run(report func(line)) (err error) {
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return err
	}
	p.Settings.Blind = p.load.blind()
	p.prepare()
	report(line{Stage: "open"})
	start := time.Now()
	p.store, err = p.engine.Open(p.Dir, p.Settings)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	p.result.OpenSeconds = time.Since(start).Seconds()
	if p.load.Recover && !p.Crash {
		return p.recovered()
	}
	report(line{Stage: "run"})
	if err := p.operations(); err != nil {
		return errors.Join(err, p.store.close())
	}
	if p.Crash {
		return p.crash(report)
	}
	report(line{Stage: "settle"})
	if err := p.settle(); err != nil {
		return errors.Join(fmt.Errorf("settle: %w", err), p.store.close())
	}
	report(line{Stage: "check"})
	if err := p.check(); err != nil {
		return errors.Join(fmt.Errorf("after the phase: %w", err), p.store.close())
	}
	p.result.Records = int64(p.ledger.records.Load())
	p.result.PeakRSS = peakRSS()
	if err := p.store.close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return p.ledger.save(p.ledgerFile())
}

// prepare makes the clients. All of that is outside of what is measured.
func (p *phase) prepare() {
	records := p.ledger.records.Load()
	var zipf *zipfian
	if p.load.Pick != pickUniform && records > 0 {
		zipf = newZipfian(records)
	}
	tail := new(atomic.Uint64)
	for r := range records {
		tail.Store(max(tail.Load(), rank(r)))
	}
	for i := range p.Settings.Clients {
		p.clients = append(p.clients, &client{
			ledger: p.ledger, format: p.Format, load: p.load, tail: tail,
			source: newSource(p.Seed, uint64(i), 1),
			chooser: chooser{how: p.load.Pick, source: newSource(p.Seed, uint64(i), 2),
				zipf: zipf, records: records},
		})
	}
}

// operations runs what is measured, with the sync that ends it.
func (p *phase) operations() error {
	for _, c := range p.clients {
		c.store = p.store
	}
	limit := p.Limit
	if warm := int64(p.load.Warm * float64(p.Ops)); warm > 0 {
		// Warming up takes at most its part of the time as well.
		part := time.Duration(p.load.Warm * float64(limit))
		until := time.Now().Add(part)
		limit -= part
		if err := p.loop(warm, func() bool { return time.Now().After(until) }); err != nil {
			return err
		}
		for _, c := range p.clients {
			c.latency = [opKinds]*hdrhistogram.Histogram{}
			c.user = 0
		}
		p.Ops -= warm
		p.done.Store(0)
	}
	timer := time.AfterFunc(limit, func() { p.stopped.Store(true) })
	defer timer.Stop()
	before, start := usageNow(), time.Now()
	if p.load.Full {
		n, complete, err := p.clients[0].fullScan(p.stopped.Load, &p.done)
		if err != nil {
			return err
		}
		p.done.Store(n)
		p.Ops = int64(p.ledger.records.Load())
		if !complete {
			p.stopped.Store(true)
		}
	} else if err := p.loop(p.Ops, p.stopped.Load); err != nil {
		return err
	}
	if p.load.writes() || p.Crash {
		if err := p.store.sync(); err != nil {
			return fmt.Errorf("sync: %w", err)
		}
	}
	r := &p.result
	r.Seconds = time.Since(start).Seconds()
	spent := usageNow().since(before)
	r.CPUSeconds, r.Written, r.Read = spent.cpu.Seconds(), spent.written, spent.read
	r.Ops, r.Wanted = p.done.Load(), p.Ops
	for _, c := range p.clients {
		r.UserBytes += c.user
	}
	for i := range p.ledger.distinct {
		for w := p.ledger.distinct[i].Load(); w != 0; w &= w - 1 {
			r.Touched++
		}
	}
	r.Latency = latencies(p.clients)
	return nil
}

// loop has the clients do n operations together, fewer when stop says so.
func (p *phase) loop(n int64, stop func() bool) error {
	errs := make([]error, len(p.clients))
	var failed atomic.Bool
	var wg sync.WaitGroup
	for i, c := range p.clients {
		// Shares are fixed, so that each client's sequence is the same for
		// every engine.
		share := n / int64(len(p.clients))
		if int64(i) < n%int64(len(p.clients)) {
			share++
		}
		wg.Go(func() {
			for k := range share {
				if k%16 == 0 && (stop() || failed.Load()) {
					return
				}
				if errs[i] = c.do(); errs[i] != nil {
					failed.Store(true)
					return
				}
				p.done.Add(1)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// latencies merges the clients' histograms: one for each kind of operation.
func latencies(clients []*client) []latency {
	var list []latency
	for kind := range opKinds {
		all := hdrhistogram.New(1, latencyMax, latencyDigits)
		for _, c := range clients {
			if h := c.latency[kind]; h != nil {
				all.Merge(h)
			}
		}
		if all.TotalCount() == 0 {
			continue
		}
		at := func(q float64) float64 { return float64(all.ValueAtQuantile(q)) / 1000 }
		list = append(list, latency{Kind: kind.String(), Count: all.TotalCount(),
			P50: at(50), P99: at(99), P999: at(99.9), Most: float64(all.Max()) / 1000})
	}
	return list
}

// settleLimit is how long work in the background may go on after a phase, as
// a multiple of the phase's limit.
const settleLimit = 1

func (p *phase) settle() error {
	if !p.load.writes() {
		p.result.Settled = true
		return nil
	}
	before, start := usageNow(), time.Now()
	until := start.Add(settleLimit * p.Limit)
	if end := p.start.Add(p.Left); end.Before(until) {
		until = end
	}
	if err := p.store.settle(func() bool { return time.Now().After(until) }); err != nil {
		return err
	}
	r := &p.result
	spent := usageNow().since(before)
	r.SettleSeconds = time.Since(start).Seconds()
	r.SettleCPUSeconds, r.SettleWritten = spent.cpu.Seconds(), spent.written
	r.Settled = time.Now().Before(until)
	return nil
}

// checks is how many records are read back after a phase that wrote.
const checks = 1000

// check reads a sample of records, and those whose version is in doubt.
func (p *phase) check() error {
	if !p.load.writes() {
		return nil
	}
	c := p.clients[0]
	for _, record := range p.ledger.loose() {
		c.key = appendKey(c.key[:0], record)
		got, err := p.store.get(c.key, c.got[:0])
		if err != nil {
			return fmt.Errorf("record %d (key %s): %w", record, c.key, err)
		}
		version, err := c.verify(record, got, p.ledger.low(record))
		if err != nil {
			return err
		}
		p.ledger.found(record, version)
	}
	n := p.ledger.records.Load()
	s := newSource(p.Seed, 3)
	for range min(checks, n) {
		if _, err := c.read(s.below(n)); err != nil {
			return err
		}
	}
	return nil
}

// crash notes what was synced and kills this process.
func (p *phase) crash(report func(line)) error {
	p.result.Records = int64(p.ledger.records.Load())
	if err := p.ledger.save(p.ledgerFile()); err != nil {
		return err
	}
	report(line{Result: &p.result})
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := self.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	select {}
}

// recovered checks a store that was opened after a crash: everything that was
// synced has to be there.
func (p *phase) recovered() error {
	r := &p.result
	r.Seconds, r.Ops, r.Wanted, r.Settled = math.Max(r.OpenSeconds, 1e-9), 1, 1, true
	r.Records = int64(p.ledger.records.Load())
	c := p.clients[0]
	c.store = p.store
	records, _, err := c.fullScan(func() bool { return false }, new(atomic.Int64))
	if err == nil && records != r.Records {
		err = fmt.Errorf("expected %d records after the crash, found %d", r.Records, records)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("after the crash: %w", err), p.store.close())
	}
	r.PeakRSS = peakRSS()
	return p.store.close()
}

// spaceOf is the space that the files below a directory take, in bytes.
func spaceOf(dir string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sum += allocated(info)
		return nil
	})
	return sum, err
}
