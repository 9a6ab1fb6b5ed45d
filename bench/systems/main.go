// SPDX-License-Identifier: Apache-2.0

// Command systems measures services that are compiled from specifications beside
// services that people run: RaftKV beside etcd, three servers each, on this
// machine's loopback and disk.
//
// In: flags, the program of RaftKV, and etcd on the path. Out: a table. Both sync
// writes on a majority before they answer, and answer reads linearizably. Servers
// are processes of their own; the engines take turns within a round, and figures are
// medians over the rounds. Every reply is asserted. After each phase of writes,
// everything that was acknowledged is read back over a fresh connection. It promises
// nothing about other machines: compare what one run says.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ashlar-dev/ashlar/bench/process"
)

const servers = 3

// kept is how many keys there are to be read.
const kept = 1000

// engine is a cluster with a way to talk to it.
type engine interface {
	name() string
	children() []*process.Child
	// connect makes a client; n chooses the server where that is the client's choice.
	connect(n int) (client, error)
	end()
}

// client does one operation at a time.
type client interface {
	put(ctx context.Context, key, value string) error
	get(ctx context.Context, key string) (value string, found bool, err error)
	close()
}

// figure is what one phase has shown.
type figure struct {
	rate     float64 // operations a second
	p50, p99 time.Duration
	cpu      time.Duration // of the servers, per operation
	written  float64       // bytes by the servers, per operation
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "systems:", err)
		os.Exit(1)
	}
}

// options of a run.
type options struct {
	program, dir string
	clients      []int
	rounds       int
	phase        time.Duration
	size         int
}

func command(ctx context.Context) error {
	var o options
	flag.StringVar(&o.program, "raftkv", "../build/raftkv", "the program that 'go run ./examples/raftkv build' makes")
	flag.StringVar(&o.dir, "dir", "", "where the servers keep their data; default: a temporary directory")
	flag.IntVar(&o.rounds, "rounds", 3, "rounds")
	flag.DurationVar(&o.phase, "phase", 3*time.Second, "how long a phase lasts")
	flag.IntVar(&o.size, "size", 128, "bytes of a value")
	clients := flag.String("clients", "1,16,64,256", "numbers of clients")
	only := flag.String("engines", "raftkv,etcd", "what is measured")
	flag.Parse()
	for _, text := range strings.Split(*clients, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("-clients: %q is no number of clients", text)
		}
		o.clients = append(o.clients, n)
	}
	if o.rounds < 1 || o.size < 16 || o.phase <= 0 {
		return errors.New("-rounds is at least 1, -size at least 16, -phase positive")
	}
	dir, err := os.MkdirTemp(o.dir, "systems-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	o.dir = dir
	fmt.Printf("%s; load %s; %s\n", process.Machine(), process.Load(), runtime.Version())
	start := map[string]func(options) (engine, error){"raftkv": startRaftKV, "etcd": startEtcd}
	figures := map[string][]figure{}
	for round := range o.rounds {
		names := strings.Split(*only, ",")
		slices.SortFunc(names, func(a, b string) int { return strings.Compare(a, b) * (1 - 2*(round%2)) })
		for _, name := range names {
			if start[name] == nil {
				return fmt.Errorf("-engines: there is no %q", name)
			}
			if err := measure(ctx, o, round, name, start[name], figures); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	print(figures)
	return nil
}

// measure runs all phases of a round on a new cluster.
func measure(ctx context.Context, o options, round int, name string, start func(options) (engine, error), figures map[string][]figure) error {
	o.dir = fmt.Sprintf("%s/%s%d", o.dir, name, round)
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	e, err := start(o)
	if err != nil {
		return err
	}
	defer e.end()
	c, err := e.connect(0)
	if err != nil {
		return err
	}
	defer c.close()
	for i := range kept {
		if err := c.put(ctx, fmt.Sprintf("kept%06d", i), text(o.size, 0, i)); err != nil {
			return fmt.Errorf("write what is read later: %w", err)
		}
	}
	for _, op := range []string{"put", "get"} {
		for _, n := range o.clients {
			f, err := phase(ctx, o, e, op, n)
			if err != nil {
				return fmt.Errorf("%s by %d clients: %w%s", op, n, err, said(e))
			}
			key := fmt.Sprintf("%s %4d %s", op, n, name)
			figures[key] = append(figures[key], f)
			fmt.Printf("round %d  %-16s %9.0f/s  p50 %8s  p99 %8s  cpu %6s/op  %6.0f B/op\n", round+1, key, f.rate, f.p50, f.p99, f.cpu, f.written)
		}
	}
	return nil
}

func said(e engine) (out string) {
	for _, c := range e.children() {
		out += c.Said()
	}
	return out
}

// text is the value number i of a client.
func text(size, client, i int) string {
	s := fmt.Sprintf("%d.%d.", client, i)
	return s + strings.Repeat("v", max(0, size-len(s)))
}

// worker is a client of a phase, with what it has done.
type worker struct {
	client
	done      int
	latencies *hdrhistogram.Histogram // in microseconds
}

// phase lets n clients do one kind of operation, and reads back what they wrote.
func phase(ctx context.Context, o options, e engine, op string, n int) (f figure, err error) {
	workers := make([]*worker, n)
	for i := range workers {
		c, err := e.connect(i)
		if err != nil {
			return f, err
		}
		defer c.close()
		workers[i] = &worker{client: c, latencies: hdrhistogram.New(1, 60_000_000, 2)}
	}
	phases++
	prefix := fmt.Sprintf("p%04d/", phases)
	before, begin := process.UsageOfAll(e.children()), time.Now()
	var stop atomic.Bool
	timer := time.AfterFunc(o.phase, func() { stop.Store(true) })
	defer timer.Stop()
	var all sync.WaitGroup
	errs := make([]error, n)
	for i, w := range workers {
		all.Go(func() { errs[i] = w.run(ctx, o, op, prefix, i, &stop) })
	}
	all.Wait()
	took, usage := time.Since(begin), process.UsageOfAll(e.children()).Minus(before)
	if err := errors.Join(errs...); err != nil {
		return f, err
	}
	ops, sum := 0, hdrhistogram.New(1, 60_000_000, 2)
	for _, w := range workers {
		ops += w.done
		sum.Merge(w.latencies)
	}
	f = figure{rate: float64(ops) / took.Seconds(), p50: time.Duration(sum.ValueAtQuantile(50)) * time.Microsecond,
		p99: time.Duration(sum.ValueAtQuantile(99)) * time.Microsecond, cpu: usage.CPU / time.Duration(max(ops, 1)), written: float64(usage.Written) / float64(max(ops, 1))}
	if op == "put" {
		err = readBack(ctx, o, e, prefix, workers)
	}
	return f, err
}

// phases counts the phases, so that each has keys of its own.
var phases int

func (w *worker) run(ctx context.Context, o options, op, prefix string, me int, stop *atomic.Bool) error {
	for !stop.Load() && ctx.Err() == nil {
		begin := time.Now()
		if op == "put" {
			if err := w.put(ctx, fmt.Sprintf("%s%d/%d", prefix, me, w.done), text(o.size, me, w.done)); err != nil {
				return err
			}
		} else if err := w.check(ctx, o, (me*7919+w.done*104729)%kept); err != nil {
			return err
		}
		_ = w.latencies.RecordValue(max(1, time.Since(begin).Microseconds()))
		w.done++
	}
	return ctx.Err()
}

// check reads one of the keys that are kept.
func (w *worker) check(ctx context.Context, o options, i int) error {
	v, found, err := w.get(ctx, fmt.Sprintf("kept%06d", i))
	if err == nil && (!found || v != text(o.size, 0, i)) {
		err = fmt.Errorf("key %d reads %q", i, v)
	}
	return err
}

// readBack reads everything that was acknowledged over fresh connections.
func readBack(ctx context.Context, o options, e engine, prefix string, workers []*worker) error {
	const readers = 32
	errs := make([]error, readers)
	var all sync.WaitGroup
	for r := range readers {
		all.Go(func() {
			c, err := e.connect(r)
			if err != nil {
				errs[r] = err
				return
			}
			defer c.close()
			for me := r; me < len(workers) && errs[r] == nil; me += readers {
				for i := range workers[me].done {
					v, found, err := c.get(ctx, fmt.Sprintf("%s%d/%d", prefix, me, i))
					if err == nil && (!found || v != text(o.size, me, i)) {
						err = fmt.Errorf("write %d of client %d was acknowledged and reads %q", i, me, v)
					}
					if err != nil {
						errs[r] = err
						break
					}
				}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func median[T int64 | float64 | time.Duration](figures []figure, of func(figure) T) T {
	var all []T
	for _, f := range figures {
		all = append(all, of(f))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// print prints medians as Markdown.
func print(figures map[string][]figure) {
	var keys []string
	for k := range figures {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	fmt.Printf("\n| operation, clients, engine | ops/s | p50 | p99 | server CPU/op | written/op |\n|---|---|---|---|---|---|\n")
	for _, k := range keys {
		f := figures[k]
		fmt.Printf("| %s | %.0f | %s | %s | %s | %.0f B |\n", k, median(f, func(f figure) float64 { return f.rate }), median(f, func(f figure) time.Duration { return f.p50 }),
			median(f, func(f figure) time.Duration { return f.p99 }), median(f, func(f figure) time.Duration { return f.cpu }), median(f, func(f figure) float64 { return f.written }))
	}
}
