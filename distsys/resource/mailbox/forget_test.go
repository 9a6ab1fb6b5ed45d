// SPDX-License-Identifier: Apache-2.0

package mailbox_test

import (
	"encoding/binary"
	"net"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/distsys/resource/mailbox"
	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/link"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// remembered is how many senders a receiver remembers, by docs/format/mailbox.md.
const remembered = 1024

// crowded is a receiver to which more senders come than it remembers. Nothing
// ends for want of time.
func crowded(t *testing.T, here value.Value) (*mailbox.Mailboxes, link.Options) {
	o := linkOptions(newEnv(t), "server")
	o.DeadAfter, o.FrameWithin = time.Hour, time.Hour
	return open(t, mailbox.Options{Link: o, Listen: ":0", Local: []value.Value{here}, HoldTime: time.Hour,
		Queue: queue.Limits{Messages: 2 * remembered}}), o
}

// firstTransfer is an offer, or deliver, of the first transfer of a sender.
func firstTransfer(kind byte, here value.Value) []byte {
	key := value.AppendWire(nil, here)
	b := append([]byte{1, 1, byte(len(key))}, key...) // low, number, key
	b = append(b, 0, 1, 1)                            // no clock, to no other mailbox, one message
	return rawFrame(kind, value.AppendWire(b, value.Int(7)))
}

// say sends a frame, and checks the type of the answer.
func say(t *testing.T, c net.Conn, frame []byte, want byte) []byte {
	t.Helper()
	if _, err := c.Write(frame); err != nil {
		t.Fatal(err)
	}
	kind, b := readFrame(t, c)
	if kind != want {
		t.Fatalf("answered by a frame of type %d, %q; want %d", kind, b, want)
	}
	return b
}

// TestSenderThatWasHereLastIsRemembered: where there are too many senders, one
// that connected first and left last is not forgotten, so what it repeats is
// not delivered again.
func TestSenderThatWasHereLastIsRemembered(t *testing.T) {
	here := value.Int(1)
	server, o := crowded(t, here)
	peer := func(life uint64) net.Conn { return rawPeer(t, string(server.Addr()), o.System, life) }
	first := peer(1)
	for life := uint64(2); life <= remembered; life++ {
		peer(life).Close()
	}
	waitFor(t, func() bool { return server.Metrics().Drops == remembered-1 })
	deliver := firstTransfer(19, here)
	say(t, first, deliver, 23)
	first.Close()
	waitFor(t, func() bool { return server.Metrics().Drops == remembered })
	peer(5000)
	say(t, peer(1), deliver, 23)
	if n := server.Queue(here).Len(); n != 1 {
		t.Errorf("a message that was sent twice by one sender is there %d times", n)
	}
}

// TestHostHasItsOwnSendersForgotten: a host that connects with ever new lives
// does not have the senders of other hosts forgotten, and its newest is served.
func TestHostHasItsOwnSendersForgotten(t *testing.T) {
	here := value.Int(1)
	server, o := crowded(t, here)
	first := rawPeer(t, string(server.Addr()), o.System, 1)
	deliver := firstTransfer(19, here)
	say(t, first, deliver, 23)
	first.Close()
	waitFor(t, func() bool { return server.Metrics().Drops == 1 })
	for life := uint64(2); life <= remembered+10; life++ {
		rawPeerFrom(t, "127.0.0.2", string(server.Addr()), o.System, life).Close()
	}
	waitFor(t, func() bool { return server.Metrics().Drops == remembered+10 })
	say(t, rawPeerFrom(t, "127.0.0.2", string(server.Addr()), o.System, 5000), deliver, 23)
	say(t, rawPeer(t, string(server.Addr()), o.System, 1), deliver, 23)
	if n := server.Queue(here).Len(); n != 2 {
		t.Errorf("%d messages: of two senders, of which one has sent its message twice", n)
	}
}

// TestHostThatStaysIsRefused: a host that keeps all its senders connected does not
// have the senders of other hosts forgotten either: it is refused one more.
func TestHostThatStaysIsRefused(t *testing.T) {
	here := value.Int(1)
	server, o := crowded(t, here)
	first := rawPeer(t, string(server.Addr()), o.System, 1)
	deliver := firstTransfer(19, here)
	say(t, first, deliver, 23)
	first.Close()
	waitFor(t, func() bool { return server.Metrics().Drops == 1 })
	for life := uint64(2); life <= remembered; life++ {
		rawPeerFrom(t, "127.0.0.2", string(server.Addr()), o.System, life)
	}
	waitFor(t, func() bool { return server.Metrics().Connects == remembered })
	if kind, b := readFrame(t, rawPeerFrom(t, "127.0.0.2", string(server.Addr()), o.System, 5000)); kind != 4 || b[0] != 6 {
		t.Errorf("one more is answered by a frame of type %d, %q; want a refusal with code 6", kind, b)
	}
	say(t, rawPeer(t, string(server.Addr()), o.System, 1), deliver, 23)
	if n := server.Queue(here).Len(); n != 1 {
		t.Errorf("a message that was sent twice by one sender is there %d times", n)
	}
}

// TestSendersWithPlacesAreRemembered: senders of which something is undecided
// are not forgotten; one more is refused because there is no room. It takes
// the place of one whose connection the receiver has ended, at once.
func TestSendersWithPlacesAreRemembered(t *testing.T) {
	here := value.Int(1)
	server, o := crowded(t, here)
	peer := func(life uint64) net.Conn { return rawPeer(t, string(server.Addr()), o.System, life) }
	offer := firstTransfer(16, here)
	for life := uint64(1); life < remembered; life++ {
		c := peer(life)
		say(t, c, offer, 21)
		c.Close()
	}
	last := peer(remembered)
	if kind, b := readFrame(t, peer(5000)); kind != 4 || b[0] != 6 {
		t.Fatalf("one more is answered by a frame of type %d, %q; want a refusal with code 6", kind, b)
	}
	if b := say(t, last, rawFrame(99, nil), 4); b[0] != 8 {
		t.Fatalf("an unknown frame is refused with code %d", b[0])
	}
	next := peer(5001)
	if b := say(t, next, firstTransfer(19, here), 23); b[0] != 1 {
		t.Errorf("done %d", b[0])
	}
	for life := uint64(1); life < remembered; life++ {
		if life%100 == 1 {
			c := peer(life)
			say(t, c, rawFrame(17, binary.AppendUvarint([]byte{1}, 1)), 23)
			c.Close()
		}
	}
	if n := server.Queue(here).Len(); n != remembered {
		t.Errorf("%d messages, want %d", n, remembered)
	}
}

// TestNewerConnection: a sender that connects again ends its earlier connection,
// which reads why.
func TestNewerConnection(t *testing.T) {
	server, o := crowded(t, value.Int(1))
	earlier := rawPeer(t, string(server.Addr()), o.System, 1)
	rawPeer(t, string(server.Addr()), o.System, 1)
	if kind, b := readFrame(t, earlier); kind != 4 || b[0] != 9 {
		t.Errorf("the earlier connection reads a frame of type %d, %q; want a refusal with code 9", kind, b)
	}
}
