// SPDX-License-Identifier: Apache-2.0

package mailbox_test

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/mailbox"
	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// The strangers of these tests write bytes to sockets, by docs/format/link.md,
// and share no code with the package that reads them.

func rawFrame(kind byte, payload []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(2+len(payload)+4))
	b = append(append(b, 1, kind), payload...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

func rawHello(system, service string, life uint64) []byte {
	b := append([]byte("ASHLINK\n"), 1, 0, 0)
	b = binary.LittleEndian.AppendUint64(b, life)
	b = append(b, make([]byte, 16)...)
	for _, s := range []string{service, system, "stranger", ""} {
		b = append(append(b, byte(len(s))), s...)
	}
	return rawFrame(1, b)
}

// rawPeer connects, says hello, and waits for the welcome.
func rawPeer(t *testing.T, addr, system string, life uint64) net.Conn {
	t.Helper()
	return rawPeerFrom(t, "127.0.0.1", addr, system, life)
}

// rawPeerFrom connects from an address of this machine.
func rawPeerFrom(t *testing.T, host, addr, system string, life uint64) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(host)}}
	c, err := d.Dial("tcp", addr)
	if err != nil {
		t.Skipf("no connection from %s to %s here: %v", host, addr, err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := c.Write(rawHello(system, "mailbox", life)); err != nil {
		t.Fatal(err)
	}
	if kind, b := readFrame(t, c); kind != 2 {
		t.Fatalf("a frame of type %d, %q; want a welcome", kind, b)
	}
	return c
}

// readFrame reads a whole frame.
func readFrame(t *testing.T, c net.Conn) (kind byte, payload []byte) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(patience))
	defer c.SetReadDeadline(time.Time{})
	head := make([]byte, 6)
	if _, err := io.ReadFull(c, head); err != nil {
		t.Fatal(err)
	}
	rest := make([]byte, binary.LittleEndian.Uint32(head)-2)
	if _, err := io.ReadFull(c, rest); err != nil {
		t.Fatal(err)
	}
	return head[5], rest[:len(rest)-4]
}

// closed reports when the other side has ended the connection.
func closed(c net.Conn) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			if _, err := c.Read(buf); err != nil {
				return
			}
		}
	}()
	return done
}

// TestSilentStrangersKeepNoPeerOut: more strangers than a server has places,
// who say nothing or half of something and come back when they are thrown out,
// do not keep a sender from being heard.
func TestSilentStrangersKeepNoPeerOut(t *testing.T) {
	const places, strangers, messages = 16, 48, 50
	here := value.String("server")
	e := newEnv(t)
	o := linkOptions(e, "server")
	o.ConnsMax, o.DeadAfter = places, time.Minute
	server := open(t, mailbox.Options{Link: o, Listen: ":0", Local: []value.Value{here}})
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	var there sync.WaitGroup
	there.Add(strangers)
	for i := range strangers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			first := true
			for ctx.Err() == nil {
				c, err := net.Dial("tcp", string(server.Addr()))
				if first {
					first = false
					there.Done()
				}
				if err != nil {
					continue
				}
				c.Write([][]byte{nil, {9, 0, 0}}[i%2])
				select {
				case <-closed(c):
				case <-ctx.Done():
				}
				c.Close()
				select {
				case <-time.After(20 * time.Millisecond):
				case <-ctx.Done():
				}
			}
		}()
	}
	there.Wait()
	se := newEnv(t)
	m := open(t, mailbox.Options{Link: linkOptions(se, "sender"), Remote: []mailbox.Remote{{Index: here, Addr: server.Addr()}}})
	rcv := newReceiver(t, e, server, here, messages)
	if err := distsys.Run(within(t), newSender(t, se, m, value.Int(1), here, messages), rcv); err != nil {
		t.Fatal(err)
	}
	checkFIFO(t, rcv.State().got, 1, messages)
}

// TestOneHostKeepsNoPeerOut: connections of one host, whose handshakes are done and
// who then say nothing, take all places of a server; a sender on another host is heard
// all the same, and the host loses one of its places.
func TestOneHostKeepsNoPeerOut(t *testing.T) {
	const places, messages = 8, 20
	here := value.String("server")
	e := newEnv(t)
	o := linkOptions(e, "server")
	o.ConnsMax, o.DeadAfter = places, time.Minute
	server := open(t, mailbox.Options{Link: o, Listen: ":0", Local: []value.Value{here}})
	ended := make(chan struct{}, 2*places)
	for i := range 2 * places {
		over := closed(rawPeerFrom(t, "127.0.0.2", string(server.Addr()), o.System, uint64(i+1)))
		go func() {
			<-over
			ended <- struct{}{}
		}()
	}
	await := func(n int) {
		for range n {
			select {
			case <-ended:
			case <-within(t).Done():
				t.Fatal("a host has more places than there are")
			}
		}
	}
	await(places)
	se := newEnv(t)
	m := open(t, mailbox.Options{Link: linkOptions(se, "sender"), Remote: []mailbox.Remote{{Index: here, Addr: server.Addr()}}})
	rcv := newReceiver(t, e, server, here, messages)
	if err := distsys.Run(within(t), newSender(t, se, m, value.Int(1), here, messages), rcv); err != nil {
		t.Fatal(err)
	}
	checkFIFO(t, rcv.State().got, 1, messages)
	await(1)
}

// TestUnfinishedFramesAreBoundedTogether: peers that say hello and then begin
// long frames hold no more memory together than the limit.
func TestUnfinishedFramesAreBoundedTogether(t *testing.T) {
	const frameMax, peers, fit = 1 << 20, 8, 2
	o := linkOptions(newEnv(t), "server")
	o.FrameMax, o.PartialMax, o.DeadAfter = frameMax, fit*frameMax, time.Minute
	server := open(t, mailbox.Options{Link: o, Listen: ":0", Local: []value.Value{value.Int(1)}})
	ended := make(chan struct{}, peers)
	for i := range peers {
		c := rawPeer(t, string(server.Addr()), o.System, uint64(i+1))
		over := closed(c)
		go func() {
			<-over
			ended <- struct{}{}
		}()
		go c.Write(append(append(binary.LittleEndian.AppendUint32(nil, frameMax-4), 1, 16), make([]byte, frameMax*9/10)...))
	}
	for n := range peers - fit {
		select {
		case <-ended:
		case <-within(t).Done():
			t.Fatalf("%d of %d connections were ended, want %d", n, peers, peers-fit)
		}
	}
}

// TestSlowFramesEnd: a peer that sends its frame byte by byte is heard all the
// time, and is given up all the same.
func TestSlowFramesEnd(t *testing.T) {
	o := linkOptions(newEnv(t), "server")
	o.PingAfter, o.DeadAfter, o.FrameWithin = 50*time.Millisecond, 10*time.Second, 300*time.Millisecond
	server := open(t, mailbox.Options{Link: o, Listen: ":0", Local: []value.Value{value.Int(1)}})
	c := rawPeer(t, string(server.Addr()), o.System, 1)
	over := closed(c)
	c.Write(append(binary.LittleEndian.AppendUint32(nil, 100_000), 1, 16))
	for end := within(t).Done(); ; {
		select {
		case <-over:
			return
		case <-end:
			t.Fatal("the connection goes on")
		case <-time.After(5 * time.Millisecond):
			c.Write([]byte{0})
		}
	}
}

// TestNumbersDoNotGoBack: a peer that raises its low and then decides transfers
// below it, one after the other, would be remembered without a bound, and could
// have transfers done again that were done before. It loses the connection.
func TestNumbersDoNotGoBack(t *testing.T) {
	o := linkOptions(newEnv(t), "server")
	server := open(t, mailbox.Options{Link: o, Listen: ":0", Local: []value.Value{value.Int(1)}})
	c := rawPeer(t, string(server.Addr()), o.System, 1)
	abort := func(low, seq uint64) {
		c.Write(rawFrame(18, binary.AppendUvarint(binary.AppendUvarint(nil, low), seq)))
	}
	for seq := uint64(1); seq <= 2; seq++ {
		abort(5000, 5000+seq)
		if kind, b := readFrame(t, c); kind != 23 {
			t.Fatalf("a frame of type %d, %q; want done", kind, b)
		}
	}
	abort(4999, 5003)
	if kind, b := readFrame(t, c); kind != 4 || b[0] != 8 {
		t.Errorf("a transfer below low is answered by type %d, %q; want a refusal", kind, b)
	}
}

// TestSendersThatLeaveAreNotRemembered: senders that find a mailbox full and
// leave are not kept in the list of those that must be notified of room.
func TestSendersThatLeaveAreNotRemembered(t *testing.T) {
	here := value.Int(1)
	o := linkOptions(newEnv(t), "server")
	server := open(t, mailbox.Options{Link: o, Listen: ":0", Local: []value.Value{here}, Queue: queue.Limits{Messages: 1}})
	key := value.AppendWire(nil, here)
	offer := append([]byte{1, 1, byte(len(key))}, key...) // low, number, key
	offer = append(offer, 0, 1, 1)                        // no clock, to no other mailbox, one message
	offer = rawFrame(16, value.AppendWire(offer, value.Int(7)))
	first := rawPeer(t, string(server.Addr()), o.System, 100)
	first.Write(offer)
	if kind, b := readFrame(t, first); kind != 21 {
		t.Fatalf("the first offer is answered by type %d, %q; want granted", kind, b)
	}
	const senders = 20
	for i := range uint64(senders) {
		c := rawPeer(t, string(server.Addr()), o.System, i+1)
		c.Write(offer)
		if kind, b := readFrame(t, c); kind != 22 {
			t.Fatalf("offer %d is answered by type %d, %q; want full", i, kind, b)
		}
		c.Close()
	}
	waitFor(t, func() bool { return server.Metrics().Drops == senders })
	if n := server.Wants(); n != 0 {
		t.Errorf("%d senders that have left are to be notified of room", n)
	}
}
