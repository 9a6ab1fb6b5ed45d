// SPDX-License-Identifier: Apache-2.0

package worm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/smr"
	"github.com/ashlar-dev/ashlar/worm/tx"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// A register is written once. A client that comes second learns what it holds.
func ExampleClient() {
	g, stop, err := start(3, true, func() string { return "" })
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stopAll(stop)
	c, err := worm.Open(worm.Options{Genesis: g})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	if _, err := c.Alloc(ctx, 1, wor.Meta{Owner: c.Nonce(), Size: 1000}); err != nil {
		fmt.Println(err)
		return
	}
	first := wor.Addr{Segment: 1, Offset: 0}
	fmt.Println(c.Propose(ctx, first, []byte("mine")))
	var other *wor.WrittenError
	if err := c.Propose(ctx, first, []byte("yours")); errors.As(err, &other) {
		fmt.Printf("it is %s\n", other.Value)
	}
	// A client that has captured a range writes in one round trip.
	token, err := c.Capture(ctx, wor.Range{Segment: 1, Lo: 1, Hi: 1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := uint32(1); i < 4; i++ {
		if err := c.Write(ctx, token, i, fmt.Append(nil, "value ", i)); err != nil {
			fmt.Println(err)
		}
	}
	v, err := c.Read(ctx, wor.Addr{Segment: 1, Offset: 3})
	fmt.Println(string(v), err)
	// Output:
	// <nil>
	// it is mine
	// value 3 <nil>
}

// sum is a state machine: what was added up.
type sum struct{ total int }

func (s *sum) Apply(c []byte) []byte { s.total += len(c); return fmt.Append(nil, s.total) }

func (s *sum) Snapshot() func() []byte {
	pieces := [][]byte{fmt.Append(nil, s.total), nil}
	return func() []byte { p := pieces[0]; pieces = pieces[1:]; return p }
}

func (s *sum) Restore() func([]byte) error {
	return func(p []byte) error {
		if p == nil {
			return nil
		}
		_, err := fmt.Sscan(string(p), &s.total)
		return err
	}
}

// A state machine is replicated: each replica applies all commands in one order, and a
// linearizable read sees every command that was answered before it began.
func ExampleClient_Replica() {
	g, stop, err := start(3, true, func() string { return "" })
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stopAll(stop)
	c, err := worm.Open(worm.Options{Genesis: g})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	m := &sum{}
	r, err := c.Replica(smr.Options{ID: 1, Machine: m, Leadership: smr.Nobody})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	for _, command := range []string{"ab", "c"} {
		result, err := r.Propose(ctx, []byte(command))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s\n", result.Value)
	}
	fmt.Println(r.Read(ctx, smr.Linearizable, 0, func() { fmt.Println(m.total) }))
	// Output:
	// 2
	// 3
	// 3
	// <nil>
}

// A shared log: every client appends, and all read the same entries in the same order.
// Servers assign positions; `ashlar worm demo` starts some. This example is compiled only.
func ExampleClient_Log() {
	ctx := context.Background()
	description, err := os.Open("cluster.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer description.Close()
	g, err := worm.ReadGenesis(description)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := worm.Open(worm.Options{Genesis: g})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	l, err := c.Log(ctx, 1, worm.LogOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close()
	at, err := l.Append(ctx, []byte("an order")) // durable when it returns
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("appended at", at)
	for e, err := range l.Follow(ctx, 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v: %s\n", e.Position, e.Data)
	}
}

// Transactions over any keys: all operations happen, or none where a condition fails.
// This example is compiled only.
func ExampleClient_KV() {
	ctx := context.Background()
	c, err := worm.Open(worm.Options{Genesis: &wor.Genesis{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	kv, err := c.KV(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer kv.Close()
	result, err := kv.Do(ctx, []tx.Cond{{Kind: tx.CondAbsent, Key: "lock"}}, tx.Op{Kind: tx.OpPut, Key: "lock", Value: []byte("mine")})
	fmt.Println(result, err)
}

func TestReplica(t *testing.T) {
	g, _ := cluster(t, 3, true)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var replicas []*worm.Replica
	var sums []*sum
	for range 2 {
		c, err := worm.Open(worm.Options{Genesis: g})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		m := &sum{}
		r, err := c.Replica(smr.Options{ID: 9, Machine: m, Leadership: smr.Nobody})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		replicas, sums = append(replicas, r), append(sums, m)
	}
	for i := range 10 {
		if _, err := replicas[i%2].Propose(ctx, []byte("abc")); err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range replicas {
		got := 0
		if err := r.Read(ctx, smr.Linearizable, 0, func() { got = sums[i].total }); err != nil || got != 30 {
			t.Errorf("replica %d has %d, want 30: %v", i, got, err)
		}
	}
}

// A client over the ideal space knows of no servers.
func TestOverAnythingElse(t *testing.T) {
	w := ideal.New(ideal.Options{Seed: 1})
	p := w.Start("client")
	c := worm.Over(p.Env, p.Serial, p.Space, nil)
	defer c.Close()
	if _, err := c.Log(t.Context(), 1, worm.LogOptions{}); !errors.Is(err, worm.ErrNotOpened) {
		t.Errorf("a log without servers: %v", err)
	}
	if _, err := c.Inspect(t.Context()); !errors.Is(err, worm.ErrNotOpened) {
		t.Errorf("servers of what has none: %v", err)
	}
}
