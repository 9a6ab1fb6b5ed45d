// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/bench/process"
	"github.com/ashlar-dev/ashlar/cmd/ashlard/daemon"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/worm/node"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// extras measures what has no peer, or another driver.
func (r *runner) extras() error {
	if err := r.counts(); err != nil {
		return err
	}
	return r.fronts()
}

// front is a line of redis-benchmark.
type front struct {
	Server, Test string
	Clients      int
	PerSecond    float64
	P50, P99     float64 // ms
}

// roleAshlard is ashlard itself as a child, with the arguments that it is given.
const roleAshlard = "-child-ashlard"

func ashlardMain(p *process.Port) error {
	var args []string
	if ok, err := p.Take(&args); !ok || err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		defer cancel() // the parent has ended
		_, _ = io.Copy(io.Discard, p)
	}()
	if code := daemon.Main(ctx, args, strings.NewReader(""), os.Stderr, os.Stderr); code != 0 {
		return fmt.Errorf("ashlard ended with %d", code)
	}
	return nil
}

// frontCounters is how many counters redis-benchmark increments.
const frontCounters = 1000

// fronts has redis-benchmark measure ashlard's front, which is transactions on
// three servers, and Redis, both in memory.
func (r *runner) fronts() error {
	bench, err := exec.LookPath("redis-benchmark")
	if err != nil {
		r.absent["redis-benchmark"] = err.Error()
		return nil
	}
	dir, err := r.directory(inMemory)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	measure := func(name string, c *cluster) error {
		defer c.end()
		for _, n := range []int{1, 50} {
			if err := r.front(bench, name, c.where, n); err != nil {
				return fmt.Errorf("redis-benchmark of %s: %w", name, err)
			}
		}
		return nil
	}
	c, err := startAshlard(r.self, dir)
	if err != nil {
		return err
	}
	if err := measure("ashlard, 3 servers", c); err != nil {
		return err
	}
	if c, err = startRedis(dir, false); err != nil {
		r.absent[redis] = err.Error()
		return nil
	}
	return measure("redis", c)
}

// formatted makes the directory of a server.
func formatted(dir, name string) (wor.ServerID, error) {
	disk, err := osenv.OpenDisk(dir)
	if err != nil {
		return 0, err
	}
	defer disk.Close()
	world := osenv.New()
	world.Disk = disk
	return node.Format(world, "log", name)
}

// startAshlard starts three of it; the front of each is an endpoint.
func startAshlard(self func(string) *exec.Cmd, dir string) (_ *cluster, err error) {
	c := &cluster{where: where{Engine: ashlar}}
	defer func() {
		if err != nil {
			c.end()
		}
	}()
	free, err := ports(2 * servers)
	if err != nil {
		return nil, err
	}
	g := &wor.Genesis{Cluster: 0xbe7d, Partitions: []wor.Config{{}}}
	for i := range servers {
		m := wor.Member{Name: fmt.Sprint("n", i), Addr: fmt.Sprint("127.0.0.1:", free[i])}
		if m.ID, err = formatted(filepath.Join(dir, m.Name), m.Name); err != nil {
			return nil, err
		}
		g.Partitions[0].Members = append(g.Partitions[0].Members, m)
	}
	var text strings.Builder
	if err := worm.WriteGenesis(&text, g); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "cluster.json")
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		return nil, err
	}
	for i := range servers {
		x, err := process.Start(fmt.Sprint("ashlard ", i), self(roleAshlard), true)
		if err != nil {
			return nil, err
		}
		c.children = append(c.children, x)
		kv := fmt.Sprint("127.0.0.1:", free[servers+i])
		c.where.Endpoints = append(c.where.Endpoints, kv)
		if err := x.Tell([]string{"serve", filepath.Join(dir, g.Partitions[0].Members[i].Name), "--volatile", "--cluster", file, "--listen", g.Partitions[0].Members[i].Addr, "--kv", kv}); err != nil {
			return nil, err
		}
	}
	if err := c.reachable(); err != nil {
		return nil, err
	}
	return c, c.answers()
}

// answers waits until a key can be written.
func (c *cluster) answers() error {
	late := time.Now().Add(answerWithin)
	for {
		k, err := dialRedis(clientJob{Where: c.where})
		if err != nil {
			return err
		}
		err = k.expect("OK", "SET", "key", "value")
		_ = k.conn.Close()
		if err == nil || time.Now().After(late) {
			return err
		}
		time.Sleep(20 * time.Millisecond) // it says nothing when it is ready
	}
}

// front runs redis-benchmark, and looks whether all it has incremented is there.
func (r *runner) front(bench, name string, at where, clients int) error {
	_, port, _ := strings.Cut(at.Endpoints[0], ":")
	n := int(r.c.Duration/time.Millisecond) * 2
	if clients > 1 {
		n *= 10
	}
	k, err := dialRedis(clientJob{Where: at})
	if err != nil {
		return err
	}
	defer k.conn.Close()
	before, err := k.counters()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.ctx, phaseWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, bench, "-h", "127.0.0.1", "-p", port, "-t", "set,get,incr", "-n", fmt.Sprint(n), "-c", fmt.Sprint(clients),
		"-d", fmt.Sprint(r.c.Value), "-r", fmt.Sprint(frontCounters), "--csv")
	process.Bind(cmd)
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	after, err := k.counters()
	if err == nil && after-before != n {
		err = fmt.Errorf("%d of %d increments are there", after-before, n)
	}
	if err != nil {
		return err
	}
	lines, err := parseFront(string(out))
	for _, f := range lines {
		f.Server, f.Clients = name, clients
		r.report.Front = append(r.report.Front, f)
		fmt.Fprintf(r.log, "%4.0fs  redis-benchmark %-20s %-6s %4d clients  %9.0f/s  p50 %.3f ms  p99 %.3f ms\n",
			time.Since(r.begun).Seconds(), name, f.Test, clients, f.PerSecond, f.P50, f.P99)
	}
	return err
}

// counters is the sum of what redis-benchmark increments.
func (c *redisConn) counters() (sum int, err error) {
	for i := range frontCounters {
		v, err := c.ask("GET", fmt.Sprintf("counter:%012d", i))
		if errors.Is(err, errNil) {
			continue
		}
		if err != nil {
			return 0, err
		}
		n, err := strconv.Atoi(v)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// parseFront reads what redis-benchmark --csv says.
func parseFront(text string) (all []front, err error) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) < 2 {
		return nil, fmt.Errorf("redis-benchmark says %.200q: %w", text, err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	for _, row := range rows[1:] {
		f := front{Test: row[0]}
		for name, to := range map[string]*float64{"rps": &f.PerSecond, "p50_latency_ms": &f.P50, "p99_latency_ms": &f.P99} {
			i, ok := column[name]
			if !ok {
				return nil, fmt.Errorf("redis-benchmark has no column %q", name)
			}
			if *to, err = strconv.ParseFloat(row[i], 64); err != nil {
				return nil, err
			}
		}
		all = append(all, f)
	}
	return all, nil
}
