// SPDX-License-Identifier: Apache-2.0

package worm_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/worm/node"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// cluster starts servers in this process, on real sockets and disks. Stop ends one.
func cluster(t testing.TB, n int, memory bool) (g *wor.Genesis, stop func(i int)) {
	t.Helper()
	g, stops, err := start(n, memory, t.TempDir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopAll(stops) })
	return g, func(i int) { stops[i]() }
}

func stopAll(stops []func()) {
	for _, stop := range stops {
		stop()
	}
}

// start starts servers, with their disks in the directories that it is given.
func start(n int, memory bool, dir func() string) (g *wor.Genesis, stops []func(), err error) {
	g = &wor.Genesis{Cluster: 7, Partitions: []wor.Config{{}}}
	disks, keys := make([]*osenv.Disk, n), make([]node.Key, n)
	for i := range n {
		world := osenv.New()
		m := wor.Member{Name: fmt.Sprint("n", i)}
		if keys[i] = node.NewKey(world.Random); memory {
			m.ID = keys[i].ID()
		} else {
			if disks[i], err = osenv.OpenDisk(dir()); err != nil {
				return nil, nil, err
			}
			world.Disk = disks[i]
			if m.ID, err = node.Format(world, "log", m.Name); err != nil {
				return nil, nil, err
			}
		}
		// A free port: the genesis must name it before the server exists.
		network := osenv.NewNetwork(osenv.NetworkOptions{})
		l, err := network.Listen("127.0.0.1:0", nil)
		if err != nil {
			return nil, nil, err
		}
		m.Addr = string(l.Addr())
		l.Close()
		network.Close()
		g.Partitions[0].Members = append(g.Partitions[0].Members, m)
	}
	for i, m := range g.Partitions[0].Members {
		world, tasks := osenv.New(), osenv.NewTasks()
		network := osenv.NewNetwork(osenv.NetworkOptions{})
		world.Network = network
		if disks[i] != nil {
			world.Disk = disks[i]
		}
		o := node.Options{Env: world, Tasks: tasks, Listen: env.Addr(m.Addr), Genesis: g}
		if o.Memory = memory; memory {
			o.Key = keys[i]
		} else {
			o.Dir = "log"
		}
		s, err := node.OpenServer(o)
		if err != nil {
			return nil, nil, err
		}
		stops = append(stops, sync.OnceFunc(func() {
			s.Close()
			tasks.Close()
			network.Close()
			if disks[i] != nil {
				disks[i].Close()
			}
		}))
	}
	return g, stops, nil
}

func TestClientOnServers(t *testing.T) {
	for _, memory := range []bool{true, false} {
		t.Run(fmt.Sprint("memory=", memory), func(t *testing.T) {
			g, stop := cluster(t, 3, memory)
			c, err := worm.Open(worm.Options{Genesis: g})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := c.Alloc(ctx, 1, wor.Meta{Owner: 1, Size: 100}); err != nil {
				t.Fatal(err)
			}
			token, err := c.Capture(ctx, wor.Range{Segment: 1, Lo: 0, Hi: 100})
			if err != nil {
				t.Fatal(err)
			}
			heard := make(chan string, 100)
			c.Listen(ctx, wor.Range{Segment: 1, Lo: 0, Hi: 100}, func(cell wor.Cell) { heard <- string(cell.Value) })
			var wait sync.WaitGroup
			for i := range uint32(50) {
				wait.Go(func() {
					if err := c.Write(ctx, token, i, fmt.Append(nil, "value ", i)); err != nil {
						t.Error(err)
					}
				})
			}
			wait.Wait()
			stop(2)
			if err := c.Write(ctx, token, 50, []byte("with two of three")); err != nil {
				t.Error(err)
			}
			// Another client, which steals the register and learns its value.
			d, err := worm.Open(worm.Options{Genesis: g})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			var written *wor.WrittenError
			if err := d.Propose(ctx, wor.Addr{Segment: 1, Offset: 7}, []byte("mine")); !errors.As(err, &written) || string(written.Value) != "value 7" {
				t.Errorf("propose: %v", err)
			}
			if err := d.Propose(ctx, wor.Addr{Segment: 1, Offset: 60}, []byte("mine")); err != nil {
				t.Error(err)
			}
			if err := c.Write(ctx, token, 60, []byte("late")); !errors.Is(err, wor.ErrWritten) {
				t.Errorf("a write that was outbid: %v", err)
			}
			if v, err := d.Read(ctx, wor.Addr{Segment: 1, Offset: 49}); err != nil || string(v) != "value 49" {
				t.Errorf("read %q, %v", v, err)
			}
			if _, err := d.Read(ctx, wor.Addr{Segment: 1, Offset: 99}); !errors.Is(err, wor.ErrUnwritten) {
				t.Errorf("read of nothing: %v", err)
			}
			got := map[string]bool{}
			for len(got) < 52 {
				select {
				case v := <-heard:
					got[v] = true
				case <-ctx.Done():
					t.Fatalf("heard %d values, want 52", len(got))
				}
			}
			if err := d.Trim(ctx, 1); err != nil {
				t.Error(err)
			}
			if _, err := c.Read(ctx, wor.Addr{Segment: 1, Offset: 99}); !errors.Is(err, wor.ErrTrimmed) {
				t.Errorf("read of what was trimmed: %v", err)
			}
		})
	}
}

func TestContextEnds(t *testing.T) {
	g, stop := cluster(t, 3, true)
	c, err := worm.Open(worm.Options{Genesis: g})
	if err != nil {
		t.Fatal(err)
	}
	stop(0)
	stop(1)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	// It has captured nothing, so it is known that nothing was written.
	if err := c.Propose(ctx, wor.Addr{Segment: 1}, []byte("x")); !errors.Is(err, wor.ErrDeadline) || errors.Is(err, wor.ErrUnknown) {
		t.Errorf("propose without a majority: %v", err)
	}
	if _, err := c.Stat(ctx, 1); !errors.Is(err, wor.ErrDeadline) {
		t.Errorf("stat without a majority: %v", err)
	}
	end := make(chan error, 1)
	go func() {
		_, err := c.Stat(context.Background(), 1)
		end <- err
	}()
	c.Close()
	if err := <-end; !errors.Is(err, wor.ErrClosed) {
		t.Errorf("stat of a closed client: %v", err)
	}
}

// TestRefusedReplace: a user of the client can recognize a replacement that was refused,
// and that changed nothing.
func TestRefusedReplace(t *testing.T) {
	g, _ := cluster(t, 3, true)
	c, err := worm.Open(worm.Options{Genesis: g})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	members := g.Partitions[0].Members
	absent := wor.Member{ID: 77, Name: "absent", Addr: "127.0.0.1:1"}
	for what, err := range map[string]error{
		"by a server that is away": c.Replace(ctx, members[0].ID, absent, nil),
		"by another member":        c.Replace(ctx, members[0].ID, members[1], nil),
		"by itself":                c.Replace(ctx, members[0].ID, members[0], nil),
		"of a server that is none": c.Replace(ctx, 78, absent, nil),
		"by one without identity":  c.Replace(ctx, members[0].ID, wor.Member{Addr: "127.0.0.1:1"}, nil),
	} {
		if !errors.Is(err, worm.ErrRefused) {
			t.Errorf("a replacement %s: %v", what, err)
		}
	}
	if parts, err := c.Inspect(ctx); err != nil || parts[0].Config.Epoch != 0 {
		t.Errorf("the partition is in epoch %v, %v", parts, err)
	}
}

// late is a Space that answers a Propose some time after its bound.
type late struct {
	wor.Space
	within chan time.Duration
}

func (l late) Propose(_ wor.Addr, _ []byte, within time.Duration, done func(error)) {
	l.within <- within
	time.AfterFunc(within+20*time.Millisecond, func() { done(nil) })
}

// A deadline belongs to the operation: the result that it reports then is not lost.
func TestDeadlineIsTheOperations(t *testing.T) {
	l := late{within: make(chan time.Duration, 2)}
	c := worm.Over(osenv.New(), &env.Serial{}, l, nil)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := c.Propose(ctx, wor.Addr{Segment: 1}, []byte("x")); err != nil {
		t.Errorf("propose, of which the answer came behind the deadline: %v", err)
	}
	if d := <-l.within; d <= 0 || d > 10*time.Millisecond {
		t.Errorf("the operation has %v", d)
	}
	ctx, give := context.WithCancel(t.Context())
	time.AfterFunc(5*time.Millisecond, give)
	// It ends before it writes, and knows that.
	if err := c.Propose(ctx, wor.Addr{Segment: 1}, []byte("x")); !errors.Is(err, wor.ErrDeadline) {
		t.Errorf("propose that was given up: %v", err)
	}
}

// outbid is a Space in which writes are outbid, and proposals return an error.
type outbid struct {
	wor.Space
	err error
}

func (o outbid) Write(t *wor.Token, off uint32, _ []byte, _ time.Duration, done func(error)) {
	done(&wor.UnknownError{Addr: wor.Addr{Segment: t.Range.Segment, Offset: off}, Cause: wor.ErrOutbid})
}

func (o outbid) Propose(_ wor.Addr, _ []byte, _ time.Duration, done func(error)) { done(o.err) }

// If the outcome of a write is unknown, it stays unknown when the proposal that should
// resolve it does nothing.
func TestWriteStaysUnknown(t *testing.T) {
	token := &wor.Token{Range: wor.Range{Segment: 1, Hi: 1}}
	for _, o := range []struct{ propose, want error }{
		{nil, nil}, {&wor.WrittenError{}, wor.ErrWritten}, {wor.ErrTrimmed, wor.ErrTrimmed}, {&wor.UnknownError{Cause: wor.ErrDeadline}, wor.ErrUnknown},
		{wor.ErrDeadline, wor.ErrUnknown}, {wor.ErrBusy, wor.ErrUnknown}, {wor.ErrSealed, wor.ErrUnknown},
	} {
		c := worm.Over(osenv.New(), &env.Serial{}, outbid{err: o.propose}, nil)
		if err := c.Write(t.Context(), token, 0, nil); !errors.Is(err, o.want) {
			t.Errorf("the proposal answers %v, the write %v, want %v", o.propose, err, o.want)
		}
		c.Close()
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
