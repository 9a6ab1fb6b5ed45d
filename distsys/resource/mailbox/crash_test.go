// SPDX-License-Identifier: Apache-2.0

package mailbox_test

import (
	"encoding/binary"
	"net"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/mailbox"
	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/link"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// TestReceiverStartsAnew: the receiver ends while messages are on their way,
// and another listens in its place. What the first had acknowledged is gone
// with it; what it had not arrives at the second, in order.
func TestReceiverStartsAnew(t *testing.T) {
	modes(t, func(t *testing.T, relaxed bool) {
		const count = 60
		here := value.Int(0)
		e := newEnv(t)
		o := mailbox.Options{Link: linkOptions(e, "server"), Listen: ":0", Local: []value.Value{here}, Queue: queue.Limits{Messages: 10}}
		first := open(t, o)
		o.Listen = first.Addr()
		se := newEnv(t)
		m := open(t, mailbox.Options{Link: linkOptions(se, "sender"), Relaxed: relaxed, Window: 20,
			Remote: []mailbox.Remote{{Index: here, Addr: first.Addr()}}})
		snd := newSender(t, se, m, value.Int(1), here, count)
		done := make(chan error, 1)
		go func() { done <- snd.Run(within(t)) }()
		rcv := newReceiver(t, e, first, here, 5)
		if err := rcv.Run(within(t)); err != nil {
			t.Fatal(err)
		}
		// It has taken five and holds ten. Which of these the sender knows to be
		// there depends on what is on its way.
		const taken, held = 5, 10
		waitFor(t, func() bool { return first.Queue(here).Len() == held })
		first.Close()
		acknowledged := int(m.Metrics().Sent)
		second := open(t, o)
		var got []value.Value
		for n := 0; n < count; {
			v, err := second.Queue(here).Receive(within(t))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, v)
			n = int(v.Index(2).AsInt())
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		// Nothing is missing between what the first had and the rest, what the sender
		// knew to be there is not sent again, and nothing comes twice to the same
		// receiver. What the first had, and the sender did not know yet, may come again.
		start := int(got[0].Index(2).AsInt())
		if start > taken+held+1 || start <= acknowledged {
			t.Errorf("the second receiver starts with message %d; the first had %d, and had acknowledged %d", start, taken+held, acknowledged)
		}
		for i, v := range got {
			if int(v.Index(2).AsInt()) != start+i {
				t.Fatalf("message %d of the second receiver is %s", i, v)
			}
		}
	})
}

// TestSenderDiesUndecided: a sender that dies between offer and decision holds
// its place for the hold time, and then no longer.
func TestSenderDiesUndecided(t *testing.T) {
	const hold = 150 * time.Millisecond
	here := value.Int(0)
	e := newEnv(t)
	server := open(t, mailbox.Options{Link: linkOptions(e, "server"), Listen: ":0", Local: []value.Value{here}, HoldTime: hold})
	remote := []mailbox.Remote{{Index: here, Addr: server.Addr()}}
	dying := open(t, mailbox.Options{Link: linkOptions(newEnv(t), "dying"), Remote: remote})
	stuck := &never{}
	a := &distsys.Archetype[int]{Name: "A", Sections: []distsys.Section[int]{{Name: "l", Run: func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		if err := tx.Write(distsys.NewRef("never", stuck), value.Int(1)); err != nil {
			return 0, err
		}
		return distsys.Done, tx.Write(distsys.NewRef("network", dying.Network()), value.Int(666), here)
	}}}}
	in, err := distsys.New(a, value.Int(1), 0, distsys.Options{Env: e})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		in.Step()
		return server.Queue(here).Len() == 1
	})
	if err := newSender(t, e, open(t, mailbox.Options{Link: linkOptions(newEnv(t), "well"), Remote: remote}), value.Int(2), here, 1).Run(within(t)); err != nil {
		t.Fatal(err)
	}
	died := time.Now()
	dying.Close()
	v, err := server.Queue(here).Receive(within(t))
	if err != nil || v.Index(1).AsInt() != 2 {
		t.Fatalf("received %s, %v", v, err)
	}
	if took := time.Since(died); took < hold/2 {
		t.Errorf("the place was given up after %v", took)
	}
}

// TestSenderStartsAnew: a place of a sender that dies between offer and decision is
// given up when its node starts anew, and not when another does.
func TestSenderStartsAnew(t *testing.T) {
	here := value.Int(0)
	e := newEnv(t)
	server := open(t, mailbox.Options{Link: linkOptions(e, "server"), Listen: ":0", Local: []value.Value{here}, HoldTime: time.Hour})
	remote := []mailbox.Remote{{Index: here, Addr: server.Addr()}}
	dying := open(t, mailbox.Options{Link: linkOptions(newEnv(t), "dying"), Remote: remote})
	stuck := &never{}
	a := &distsys.Archetype[int]{Name: "A", Sections: []distsys.Section[int]{{Name: "l", Run: func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		if err := tx.Write(distsys.NewRef("never", stuck), value.Int(1)); err != nil {
			return 0, err
		}
		return distsys.Done, tx.Write(distsys.NewRef("network", dying.Network()), value.Int(666), here)
	}}}}
	in, err := distsys.New(a, value.Int(1), 0, distsys.Options{Env: e})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		in.Step()
		return server.Queue(here).Len() == 1
	})
	send := func(node string, self int32) *mailbox.Mailboxes {
		m := open(t, mailbox.Options{Link: linkOptions(newEnv(t), node), Remote: remote})
		if err := newSender(t, e, m, value.Int(self), here, 1).Run(within(t)); err != nil {
			t.Fatal(err)
		}
		if err := m.Linger(within(t)); err != nil {
			t.Fatal(err)
		}
		return m
	}
	send("well", 2)
	dying.Close()
	waitFor(t, func() bool { return server.Metrics().Drops == 1 })
	send("well too", 3)
	if n := server.Queue(here).Len(); n != 3 {
		t.Fatalf("the mailbox has %d messages, and not the one that is undecided and two others", n)
	}
	send("dying", 4)
	for _, want := range []int32{2, 3, 4} {
		v, err := server.Queue(here).Receive(within(t))
		if err != nil || v.Index(1).AsInt() != want {
			t.Fatalf("received %s, %v; want the message of %d", v, err, want)
		}
	}
}

// never is a resource that never finishes its pre-commit, like a mailbox that
// does not answer: the section takes its other places meanwhile.
type never struct{}

func (*never) Queues(*distsys.Tx) bool                              { return true }
func (*never) Read(*distsys.Tx, []value.Value) (value.Value, error) { return value.Value{}, nil }
func (*never) Write(*distsys.Tx, []value.Value, value.Value) error  { return nil }
func (*never) PreCommit(*distsys.Tx) error                          { return distsys.ErrPending }
func (*never) Commit(*distsys.Tx)                                   {}
func (*never) Abort(*distsys.Tx)                                    {}

// hostile is a client of the mailbox service that sends frames of its own.
type hostile struct{ up bool }

func (h *hostile) Up(*link.Hello) error          { h.up = true; return nil }
func (h *hostile) Frame(link.Type, []byte) error { return nil }
func (h *hostile) Room()                         {}
func (h *hostile) Down(error)                    {}

// FuzzReceiver: a peer that knows the handshake sends any frames; the node
// survives, keeps its limits, and still serves others.
func FuzzReceiver(f *testing.F) {
	key := string(value.AppendWire(nil, value.Int(0)))
	offer := func(low, seq uint64, alone byte, count uint64, v ...byte) []byte {
		b := binary.AppendUvarint(binary.AppendUvarint(nil, low), seq)
		b = append(link.AppendString(b, key), 0, alone)
		return append(binary.AppendUvarint(b, count), v...)
	}
	f.Add(byte(0), offer(1, 1, 1, 1, 0), byte(1), []byte{1, 1})
	f.Add(byte(3), offer(1, 1, 0, 2, 0, 1), byte(0), offer(1, 2, 0, 1, 0))
	f.Add(byte(0), offer(1, 9, 1, 1<<40), byte(2), []byte{1, 1})
	f.Add(byte(4), append(link.AppendString(nil, key), 1, 1, 0, 1), byte(4), append(link.AppendString(nil, key), 9, 9, 0, 1))
	f.Fuzz(func(t *testing.T, t1 byte, p1 []byte, t2 byte, p2 []byte) {
		const capacity = 3
		w := newWorld(t, 1, 0)
		here := value.Int(0)
		server := open(t, mailbox.Options{Link: w.link("server"), Listen: ":0", Local: []value.Value{here}, Queue: queue.Limits{Messages: capacity}})
		h := &hostile{}
		lock := &nolock{}
		o := w.link("hostile")
		o.Lock, o.Service = lock, "mailbox"
		o, err := o.Complete()
		if err != nil {
			t.Fatal(err)
		}
		c := link.NewClient(&o, link.Target{Addr: server.Addr()}, h)
		for !h.up {
			if !w.next() {
				t.Fatal("no link")
			}
		}
		for _, fr := range []struct {
			t byte
			p []byte
		}{{t1, p1}, {t2, p2}, {t1, p1}} {
			c.Send(link.Seal(append(link.Begin(nil, link.Service+link.Type(fr.t%16)), fr.p...), 0))
		}
		for range 300 {
			w.next()
		}
		c.Close()
		if n := server.Queue(here).Len(); n > 2*capacity+2000 {
			t.Errorf("%d messages in a mailbox of %d", n, capacity)
		}
		for range 3000 { // past the hold time
			w.next()
		}
		for server.Queue(here).Len() > 0 {
			if _, err := server.Queue(here).Receive(within(t)); err != nil {
				t.Fatal(err)
			}
		}
		m := open(t, mailbox.Options{Link: w.link("good"), Remote: []mailbox.Remote{{Index: here, Addr: server.Addr()}}})
		snd := newSender(t, w.env("good"), m, value.Int(1), here, 2)
		if err := w.drive(snd); err != nil {
			t.Fatalf("a good sender: %v", err)
		}
	})
}

type nolock struct{}

func (nolock) Lock()   {}
func (nolock) Unlock() {}

// TestStrangersOnTheRealNetwork: bytes that are no protocol at all do not
// disturb messages.
func TestStrangersOnTheRealNetwork(t *testing.T) {
	here := value.Int(0)
	e := newEnv(t)
	server := open(t, mailbox.Options{Link: linkOptions(e, "server"), Listen: ":0", Local: []value.Value{here}})
	for range 20 {
		nc, err := net.Dial("tcp", string(server.Addr()))
		if err != nil {
			t.Fatal(err)
		}
		nc.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
		nc.Close()
	}
	m := open(t, mailbox.Options{Link: linkOptions(newEnv(t), "sender"), Remote: []mailbox.Remote{{Index: here, Addr: server.Addr()}}})
	rcv := newReceiver(t, e, server, here, 50)
	if err := distsys.Run(within(t), rcv, newSender(t, e, m, value.Int(1), here, 50)); err != nil {
		t.Fatal(err)
	}
	checkFIFO(t, rcv.State().got, 1, 50)
}
