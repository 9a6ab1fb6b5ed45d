// SPDX-License-Identifier: Apache-2.0

package mailbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/mailbox"
	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/evidence/faultproxy"
	"github.com/ashlar-dev/ashlar/link"
	"github.com/ashlar-dev/ashlar/tla/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what a test waits for; nothing waits that long unless
// something is wrong.
const patience = 30 * time.Second

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func newEnv(t testing.TB) env.Env {
	e := osenv.New()
	n := osenv.NewNetwork(osenv.NetworkOptions{})
	t.Cleanup(func() { n.Close() })
	e.Network = n
	return e
}

func linkOptions(e env.Env, node string) link.Options {
	return link.Options{Env: e, System: "test", Node: node, BackoffMin: time.Millisecond, BackoffMax: 20 * time.Millisecond}
}

func open(t testing.TB, o mailbox.Options) *mailbox.Mailboxes {
	t.Helper()
	m, err := mailbox.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// sender is "l: while (i < count) { i := i + 1; network[to] := <<self, i>> }".
type sender struct {
	network  distsys.Ref
	to       value.Value
	i, count int32
}

func (s *sender) l(tx *distsys.Tx) (distsys.Label, error) {
	if s.i >= s.count {
		return distsys.Done, nil
	}
	s.i++
	return 0, tx.Write(s.network, value.Tuple(tx.Self(), value.Int(s.i)), s.to)
}

func senderCode() *distsys.Archetype[sender] {
	return &distsys.Archetype[sender]{Name: "Sender", Sections: []distsys.Section[sender]{{Name: "l", Run: (*sender).l}}}
}

// receiver reads count messages from its own mailbox.
type receiver struct {
	network distsys.Ref
	got     []value.Value
	count   int
}

func (s *receiver) l(tx *distsys.Tx) (distsys.Label, error) {
	if len(s.got) >= s.count {
		return distsys.Done, nil
	}
	v, err := tx.Read(s.network, tx.Self())
	if err != nil {
		return 0, err
	}
	s.got = append(s.got[:len(s.got):len(s.got)], v)
	return 0, nil
}

func receiverCode() *distsys.Archetype[receiver] {
	return &distsys.Archetype[receiver]{Name: "Receiver", Sections: []distsys.Section[receiver]{{Name: "l", Run: (*receiver).l}}}
}

func newSender(t testing.TB, e env.Env, m *mailbox.Mailboxes, self, to value.Value, count int) *distsys.Instance[sender] {
	t.Helper()
	in, err := distsys.New(senderCode(), self, sender{network: distsys.NewRef("network", m.Network()), to: to, count: int32(count)}, distsys.Options{Env: e})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func newReceiver(t testing.TB, e env.Env, m *mailbox.Mailboxes, self value.Value, count int) *distsys.Instance[receiver] {
	t.Helper()
	in, err := distsys.New(receiverCode(), self, receiver{network: distsys.NewRef("network", m.Network()), count: count}, distsys.Options{Env: e})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// checkFIFO checks that each sender's messages are there once and in order.
func checkFIFO(t *testing.T, got []value.Value, senders, count int) {
	t.Helper()
	last := map[string]int32{}
	for i, v := range got {
		who, n := v.Index(1).String(), v.Index(2).AsInt()
		if n != last[who]+1 {
			t.Fatalf("message %d is %s after %d of the same sender", i, v, last[who])
		}
		last[who] = n
	}
	for who, n := range last {
		if int(n) != count {
			t.Errorf("%d messages of %s, want %d", n, who, count)
		}
	}
	if len(last) != senders {
		t.Errorf("messages of %d senders, want %d", len(last), senders)
	}
}

func modes(t *testing.T, f func(t *testing.T, relaxed bool)) {
	t.Run("strict", func(t *testing.T) { f(t, false) })
	t.Run("relaxed", func(t *testing.T) { f(t, true) })
}

// TestMessagesArriveOnceInOrder sends from several nodes through connections
// that are cut in the middle of frames, delayed and delivered in pieces.
func TestMessagesArriveOnceInOrder(t *testing.T) {
	const senders, count = 3, 1500
	faults := faultproxy.Faults{Cut: 6000, Delay: 200 * time.Microsecond, Piece: 600}
	modes(t, func(t *testing.T, relaxed bool) {
		ctx := within(t)
		here := value.String("server")
		e := newEnv(t)
		server := open(t, mailbox.Options{Link: linkOptions(e, "server"), Listen: ":0", Local: []value.Value{here}, Queue: queue.Limits{Messages: 20}, HoldTime: 50 * time.Millisecond})
		rcv := newReceiver(t, e, server, here, senders*count)
		procs := []distsys.Process{rcv}
		var proxies []*faultproxy.Proxy
		var boxes []*mailbox.Mailboxes
		for i := range senders {
			p, err := faultproxy.Open("127.0.0.1", uint64(i+1))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.Close)
			p.Aim(string(server.Addr()))
			p.Set(faults)
			proxies = append(proxies, p)
			se := newEnv(t)
			m := open(t, mailbox.Options{Link: linkOptions(se, fmt.Sprint("sender", i)), Remote: []mailbox.Remote{{Index: here, Addr: env.Addr(p.Addr())}}, Relaxed: relaxed, Window: 64})
			boxes = append(boxes, m)
			procs = append(procs, newSender(t, se, m, value.Int(int32(i)), here, count))
		}
		if err := distsys.Run(ctx, procs...); err != nil {
			t.Fatal(err)
		}
		checkFIFO(t, rcv.State().got, senders, count)
		cuts := 0
		for i, p := range proxies {
			cuts += p.Cuts()
			p.Set(faultproxy.Faults{})
			if err := boxes[i].Linger(ctx); err != nil {
				t.Error(err)
			}
			if got := boxes[i].Metrics().Sent; got != count {
				t.Errorf("sender %d counts %d messages acknowledged, want %d", i, got, count)
			}
		}
		if cuts < 20 {
			t.Errorf("only %d connections were cut: the test has not tested", cuts)
		}
		if n := server.Queue(here).Len(); n != 0 {
			t.Errorf("%d messages too many", n)
		}
		t.Logf("%d cuts, receiver: %+v", cuts, server.Metrics())
	})
}

// echo is one side of an exchange of messages: the first sends and waits for
// the answer, the other reads and answers in one section.
type echo struct {
	network distsys.Ref
	peer    value.Value
	first   bool
	left    int
}

const (
	echoBegin distsys.Label = iota
	echoSend
	echoWait
	echoAnswer
)

func (s *echo) begin(*distsys.Tx) (distsys.Label, error) {
	if s.first {
		return echoSend, nil
	}
	return echoAnswer, nil
}

func (s *echo) send(tx *distsys.Tx) (distsys.Label, error) {
	if s.left == 0 {
		return distsys.Done, nil
	}
	s.left--
	return echoWait, tx.Write(s.network, value.Int(int32(s.left)), s.peer)
}

func (s *echo) wait(tx *distsys.Tx) (distsys.Label, error) {
	_, err := tx.Read(s.network, tx.Self())
	return echoSend, err
}

func (s *echo) answer(tx *distsys.Tx) (distsys.Label, error) {
	if s.left == 0 {
		return distsys.Done, nil
	}
	v, err := tx.Read(s.network, tx.Self())
	if err != nil {
		return 0, err
	}
	s.left--
	return echoAnswer, tx.Write(s.network, v, s.peer)
}

func echoPair(t testing.TB, relaxed bool, count int) (a, b *distsys.Instance[echo], ma, mb *mailbox.Mailboxes) {
	t.Helper()
	arch := &distsys.Archetype[echo]{Name: "Echo", Sections: []distsys.Section[echo]{
		echoBegin:  {Name: "begin", Run: (*echo).begin},
		echoSend:   {Name: "send", Run: (*echo).send},
		echoWait:   {Name: "wait", Run: (*echo).wait},
		echoAnswer: {Name: "answer", Run: (*echo).answer},
	}}
	ea, eb := newEnv(t), newEnv(t)
	ia, ib := value.Int(1), value.Int(2)
	la, err := ea.Network.Listen(":0", func(env.Conn) env.Handler { return nil })
	if err != nil {
		t.Fatal(err)
	}
	addrA := la.Addr()
	la.Close()
	mb = open(t, mailbox.Options{Link: linkOptions(eb, "b"), Listen: ":0", Local: []value.Value{ib}, Relaxed: relaxed, Remote: []mailbox.Remote{{Index: ia, Addr: addrA}}})
	ma = open(t, mailbox.Options{Link: linkOptions(ea, "a"), Listen: addrA, Local: []value.Value{ia}, Relaxed: relaxed, Remote: []mailbox.Remote{{Index: ib, Addr: mb.Addr()}}})
	if a, err = distsys.New(arch, ia, echo{network: distsys.NewRef("network", ma.Network()), peer: ib, first: true, left: count}, distsys.Options{Env: ea}); err != nil {
		t.Fatal(err)
	}
	if b, err = distsys.New(arch, ib, echo{network: distsys.NewRef("network", mb.Network()), peer: ia, left: count}, distsys.Options{Env: eb}); err != nil {
		t.Fatal(err)
	}
	return a, b, ma, mb
}

func TestEcho(t *testing.T) {
	modes(t, func(t *testing.T, relaxed bool) {
		a, b, ma, _ := echoPair(t, relaxed, 100)
		if err := distsys.Run(within(t), a, b); err != nil {
			t.Fatal(err)
		}
		if err := ma.Linger(within(t)); err != nil {
			t.Error(err)
		}
		if got := ma.Metrics(); got.Sent != 100 || got.Received != 100 {
			t.Errorf("sent %d, received %d, want 100 and 100", got.Sent, got.Received)
		}
		// A wait that spun would show as many more wake-ups than messages.
		if m := a.Metrics(); m.Wakeups > 1000 {
			t.Errorf("%d wake-ups for 100 messages", m.Wakeups)
		}
	})
}

// TestFullMailboxBlocksTheSender: with room for 4 messages and no reader, the
// sender commits 4 (strict) or what the window holds besides (relaxed), and
// then sleeps.
func TestFullMailboxBlocksTheSender(t *testing.T) {
	modes(t, func(t *testing.T, relaxed bool) {
		const capacity, window = 4, 8
		here := value.Int(0)
		e := newEnv(t)
		server := open(t, mailbox.Options{Link: linkOptions(e, "server"), Listen: ":0", Local: []value.Value{here}, Queue: queue.Limits{Messages: capacity}})
		m := open(t, mailbox.Options{Link: linkOptions(e, "sender"), Relaxed: relaxed, Window: window, Remote: []mailbox.Remote{{Index: here, Addr: server.Addr()}}})
		snd := newSender(t, e, m, value.Int(1), here, 100)
		ctx, cancel := context.WithCancel(within(t))
		done := make(chan error, 1)
		go func() { done <- snd.Run(ctx) }()
		want := capacity
		if relaxed {
			want += window
		}
		waitFor(t, func() bool { return snd.Metrics().Commits == uint64(want)+1 })
		time.Sleep(50 * time.Millisecond)
		before := snd.Metrics()
		time.Sleep(200 * time.Millisecond)
		if after := snd.Metrics(); after != before {
			t.Errorf("a blocked sender worked: %+v, then %+v", before, after)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
		// With a reader the rest arrives.
		rcv := newReceiver(t, e, server, here, 100)
		if err := distsys.Run(within(t), snd, rcv); err != nil {
			t.Fatal(err)
		}
		checkFIFO(t, rcv.State().got, 1, 100)
	})
}

func waitFor(t testing.TB, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !cond(); {
		if time.Now().After(end) {
			t.Fatal("waited too long")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestUnknownMailboxes(t *testing.T) {
	modes(t, func(t *testing.T, relaxed bool) {
		e := newEnv(t)
		server := open(t, mailbox.Options{Link: linkOptions(e, "server"), Listen: ":0", Local: []value.Value{value.Int(1)}})
		m := open(t, mailbox.Options{Link: linkOptions(e, "sender"), Relaxed: relaxed, Remote: []mailbox.Remote{{Index: value.Int(2), Addr: server.Addr()}}})
		err := newSender(t, e, m, value.Int(9), value.Int(2), 1000).Run(within(t))
		if err == nil || !strings.Contains(err.Error(), "has no mailbox 2") {
			t.Errorf("sending to a mailbox that the node does not have: %v", err)
		}
		err = newSender(t, e, m, value.Int(9), value.Int(3), 1000).Run(within(t))
		if err == nil || !strings.Contains(err.Error(), "there is no mailbox 3; there are 2") {
			t.Errorf("sending to a mailbox that is nowhere: %v", err)
		}
		err = newReceiver(t, e, m, value.Int(2), 1).Run(within(t))
		if err == nil || !strings.Contains(err.Error(), "on another node") {
			t.Errorf("reading a mailbox of another node: %v", err)
		}
	})
}

func BenchmarkRoundTrip(b *testing.B) {
	for _, mode := range []string{"strict", "relaxed"} {
		b.Run(mode, func(b *testing.B) {
			x, y, _, _ := echoPair(b, mode == "relaxed", b.N)
			b.ResetTimer()
			b.ReportAllocs()
			if err := distsys.Run(context.Background(), x, y); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkSend is one sender and one receiver that do nothing else.
func BenchmarkSend(b *testing.B) {
	for _, mode := range []string{"strict", "relaxed"} {
		b.Run(mode, func(b *testing.B) {
			here := value.Int(0)
			e, se := newEnv(b), newEnv(b)
			server := open(b, mailbox.Options{Link: linkOptions(e, "server"), Listen: ":0", Local: []value.Value{here}})
			m := open(b, mailbox.Options{Link: linkOptions(se, "sender"), Relaxed: mode == "relaxed", Remote: []mailbox.Remote{{Index: here, Addr: server.Addr()}}})
			ref := distsys.NewRef("network", server.Network())
			left := b.N
			arch := &distsys.Archetype[struct{}]{Name: "Sink", Sections: []distsys.Section[struct{}]{{Name: "l", Run: func(_ *struct{}, tx *distsys.Tx) (distsys.Label, error) {
				if _, err := tx.Read(ref, here); err != nil {
					return 0, err
				}
				if left--; left == 0 {
					return distsys.Done, nil
				}
				return 0, nil
			}}}}
			sink, err := distsys.New(arch, here, struct{}{}, distsys.Options{Env: e})
			if err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			b.ReportAllocs()
			if err := distsys.Run(context.Background(), newSender(b, se, m, value.Int(1), here, b.N), sink); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// TestTooManyForTheWindow: a section that sends more than is free in the window
// tries twice and then sleeps: giving up what it had reserved does not wake it.
func TestTooManyForTheWindow(t *testing.T) {
	e := newEnv(t)
	there := value.Int(2)
	m := open(t, mailbox.Options{Link: linkOptions(e, "sender"), Relaxed: true, Window: 3, Remote: []mailbox.Remote{{Index: there, Addr: "127.0.0.1:1"}}})
	ref := distsys.NewRef("network", m.Network())
	in, err := distsys.New(&distsys.Archetype[int]{Name: "A", Sections: []distsys.Section[int]{{Name: "l", Run: func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		for i := range int32(2) {
			if err := tx.Write(ref, value.Int(i), there); err != nil {
				return 0, err
			}
		}
		return 0, nil // the second time, one message fits
	}}}}, value.Int(1), 0, distsys.Options{Env: e})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		in.Step()
	}
	if n := in.Metrics().Blocked; n < 1 || n > 3 {
		t.Errorf("%d attempts of a section that does not fit", n)
	}
}
