// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/client"
	"github.com/ashlar-dev/ashlar/dedalus/rt/host"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo answers each input with an output of the same row, unless it is deaf.
type echo struct {
	deaf bool
	in   [][]byte
}

func (e *echo) Deliver(_ int, row []byte) error {
	e.in = append(e.in, append([]byte(nil), row...))
	return nil
}
func (e *echo) Timer(int)     {}
func (e *echo) Pending() bool { return false }
func (e *echo) Tick(out *rt.Out) {
	for _, r := range e.in {
		if !e.deaf {
			out.Sent = append(out.Sent, rt.Sent{To: "c", Relation: 1, Row: r})
		}
	}
	e.in = nil
}
func (e *echo) Resend(*rt.Out)          {}
func (e *echo) Restore(rt.Change) error { return nil }
func (e *echo) Snapshot(*rt.Out)        {}

func program() *rt.Program {
	return &rt.Program{Name: "echo", Hash: 1, Relations: []rt.Relation{{Name: "in", Kind: rt.Input}, {Name: "out", Kind: rt.Output}},
		Components: []rt.ComponentType{{Name: "e", Of: "e", Instances: 2, Partitions: 1,
			New: func(who rt.Identity, _ map[string][][]byte) (rt.Component, error) {
				return &echo{deaf: who.Node == "e/0"}, nil
			}}}}
}

// open opens e/0, which is deaf, and e/1.
func open(t *testing.T) (env.Env, map[string]env.Addr) {
	t.Helper()
	w, network := osenv.New(), osenv.NewNetwork(osenv.NetworkOptions{})
	w.Network = network
	t.Cleanup(func() { network.Close() })
	nodes := map[string]env.Addr{}
	for _, node := range []string{"e/0", "e/1"} {
		tasks := osenv.NewTasks()
		h, err := host.Open(host.Options{Env: w, Tasks: tasks, Program: program(), Who: rt.Identity{Node: node, Self: node}, Listen: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			tasks.Close()
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		})
		nodes[node] = h.Addr()
	}
	return w, nodes
}

func key(_ int, row []byte) (string, bool) {
	k, _, ok := strings.Cut(string(row), " ")
	return k, ok
}

// TestCaller: an input that is not answered goes to another instance; the one that is
// preferred is asked first; what answers no call is told.
func TestCaller(t *testing.T) {
	w, nodes := open(t)
	other := make(chan string, 10)
	c, err := client.OpenCaller(client.CallerOptions{Options: client.Options{Env: w, Program: program(), Name: "c", Nodes: nodes,
		Output: func(_ string, _ int, row []byte) { other <- string(row) }}, To: []string{"e/0", "e/1"}, Retry: 50 * time.Millisecond, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, k := range []string{"a", "b"} {
		r, row, err := c.Do(ctx, k, 0, []byte(k+" 1"))
		if err != nil || r != 1 || string(row) != k+" 1" {
			t.Fatalf("%d %q %v", r, row, err)
		}
	}
	if n, again := c.Calls(); n != 0 || again < 1 {
		t.Errorf("%d calls, %d sent again", n, again)
	}
	// From a call's end, the next ones: they leave together.
	done := make(chan string, 10)
	err = c.Call("first", 0, []byte("first 1"), func(node string, _ int, row []byte) {
		for _, k := range []string{"x", "y", "z"} {
			if err := c.Call(k, 0, []byte(k+" 2"), func(node string, _ int, row []byte) { done <- k }); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		<-done
	}
	if err := c.Send("e/1", 0, []byte("unasked")); err != nil {
		t.Fatal(err)
	}
	for got := range other {
		if got == "unasked" {
			break
		}
		if !strings.Contains(got, " ") { // a second answer to what was asked twice
			t.Fatalf("%q", got)
		}
	}
	// A caller that is not answered in time gives up, and may call so again.
	c.Prefer("e/0")
	short, over := context.WithTimeout(context.Background(), time.Millisecond)
	defer over()
	if _, _, err := c.Do(short, "late", 0, []byte("late 1")); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, _, err := c.Do(ctx, "late", 0, []byte("late 2")); err != nil {
		t.Error(err)
	}
}

// TestRefused: what a client is told at once.
func TestRefused(t *testing.T) {
	w, nodes := open(t)
	for _, o := range []client.Options{{}, {Env: w, Program: program(), Name: "c"}, {Env: w, Program: program(), Nodes: nodes},
		{Env: w, Program: program(), Nodes: nodes, Name: strings.Repeat("x", 256)}} {
		if c, err := client.Open(o); err == nil {
			c.Close()
			t.Errorf("%+v is allowed", o)
		}
	}
	if _, err := client.OpenCaller(client.CallerOptions{Options: client.Options{Env: w, Program: program(), Name: "c", Nodes: nodes}}); err == nil {
		t.Error("a caller without a key")
	}
	nodes["e/9"] = "127.0.0.1:1" // nobody
	c, err := client.OpenCaller(client.CallerOptions{Options: client.Options{Env: w, Program: program(), Name: "c", Nodes: nodes, QueueMax: 100},
		To: []string{"e/9"}, Retry: time.Hour, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Send("nobody", 0, nil); !errors.Is(err, client.ErrNode) {
		t.Error(err)
	}
	if _, err := c.Connected("nobody"); !errors.Is(err, client.ErrNode) {
		t.Error(err)
	}
	if err := c.Send("e/9", 0, make([]byte, 5<<20)); err == nil || !strings.Contains(err.Error(), "limit is") {
		t.Error(err)
	}
	row := make([]byte, 80)
	if err := c.Call("a", 0, row, nil); err != nil {
		t.Error(err)
	}
	if err := c.Call("a", 0, row, nil); err == nil {
		t.Error("two calls with one key")
	}
	if err := c.Call("b", 0, row, nil); !errors.Is(err, client.ErrFull) {
		t.Error(err)
	}
	if n, _ := c.Calls(); n != 1 || c.Waiting() < 80 {
		t.Errorf("%d calls, %d bytes wait", n, c.Waiting())
	}
	c.Close()
	if err := c.Call("c", 0, nil, nil); !errors.Is(err, client.ErrClosed) {
		t.Error(err)
	}
	if err := c.Send("e/1", 0, nil); !errors.Is(err, client.ErrClosed) {
		t.Error(err)
	}
}

// TestCalledLess: the longer a call has no answer, the more seldom it is made again.
func TestCalledLess(t *testing.T) {
	clock := &byHand{}
	c, err := client.OpenCaller(client.CallerOptions{Options: client.Options{Env: env.Env{Clock: clock, Random: env.Seeded(1), Network: clock},
		Program: program(), Name: "c", Nodes: map[string]env.Addr{"e/0": "away"}}, To: []string{"e/0"}, Retry: time.Second, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Call("a", 0, []byte("a 1"), func(string, int, []byte) {}); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		clock.pass(100 * time.Millisecond)
	}
	if _, again := c.Calls(); again < 6 || again > 7 {
		t.Errorf("called again %d times in 100 s, want 6 or 7", again)
	}
}

// byHand is a world in which time passes when the test says so, and no server is there.
type byHand struct {
	now    env.Instant
	timers []func() bool
}

func (b *byHand) Now() env.Instant { return b.now }
func (b *byHand) Wall() time.Time  { return time.Unix(0, int64(b.now)) }
func (b *byHand) After(d time.Duration, w env.Waker) env.Timer {
	at := b.now.Add(d)
	b.timers = append(b.timers, func() bool {
		if b.now >= at {
			w.Wake()
		}
		return b.now >= at
	})
	return b
}
func (b *byHand) Stop() bool { return false }
func (b *byHand) pass(d time.Duration) {
	b.now = b.now.Add(d)
	list := b.timers
	b.timers = nil
	for _, out := range list {
		if !out() {
			b.timers = append(b.timers, out)
		}
	}
}
func (b *byHand) Listen(env.Addr, func(env.Conn) env.Handler) (env.Listener, error) {
	return nil, errors.New("nobody listens")
}
func (b *byHand) Dial(env.Addr, env.Handler) env.Conn { return b }
func (b *byHand) Write([]byte) error                  { return env.ErrClosed }
func (b *byHand) Close()                              {}
func (b *byHand) Local() env.Addr                     { return "" }
func (b *byHand) Remote() env.Addr                    { return "" }
