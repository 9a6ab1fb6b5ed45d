// SPDX-License-Identifier: Apache-2.0

package mailbox_test

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/mailbox"
	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// rawClock is a clock of n entries with names of 5 bytes: 7 bytes for each in a
// frame.
func rawClock(n int) []byte {
	b := binary.AppendUvarint(nil, uint64(n))
	for i := range n {
		b = append(b, fmt.Sprintf("\x05%05d\x01", i)...)
	}
	return b
}

func rawKey(v value.Value) []byte {
	key := value.AppendWire(nil, v)
	return append([]byte{byte(len(key))}, key...)
}

// TestClocksTakeRoom: a clock counts in the limits of bytes as what it takes in
// memory, which is a multiple of its bytes in a frame; once for messages that
// share it.
func TestClocksTakeRoom(t *testing.T) {
	const entries, limit = 2000, 150_000 // 14,000 bytes in a frame, 90,000 in memory
	here := value.Int(1)
	one := value.AppendWire(nil, here)
	o := linkOptions(newEnv(t), "server")
	o.DeadAfter = time.Hour
	serve := func() *mailbox.Mailboxes {
		return open(t, mailbox.Options{Link: o, Listen: ":0", Local: []value.Value{here}, Queue: queue.Limits{Bytes: limit}})
	}
	t.Run("relaxed", func(t *testing.T) {
		server := serve()
		c := rawPeer(t, string(server.Addr()), o.System, 1)
		for seq := range byte(3) {
			b := slices.Concat(rawKey(here), []byte{1, seq + 1}, rawClock(entries), one)
			answer := say(t, c, rawFrame(20, b), 25)
			if n := answer[len(answer)-1]; n != 1 {
				t.Fatalf("after message %d, %d are acknowledged; there is room for one", seq+1, n)
			}
		}
		if n := server.Queue(here).Len(); n != 1 {
			t.Errorf("%d messages", n)
		}
	})
	t.Run("strict", func(t *testing.T) {
		server := serve()
		c := rawPeer(t, string(server.Addr()), o.System, 1)
		offer := func(seq byte, clock, count int) []byte {
			b := slices.Concat([]byte{1, seq}, rawKey(here), rawClock(clock), []byte{1, byte(count)}, slices.Repeat(one, count))
			return rawFrame(16, b)
		}
		say(t, c, offer(1, 0, 1), 21)
		say(t, c, offer(2, entries, 100), 21)
		say(t, c, offer(3, entries, 1), 22)
	})
}

// TestDeliverWithoutOffer: a peer that delivers what it never offered fills a
// mailbox to a multiple of its limit of bytes and no more.
func TestDeliverWithoutOffer(t *testing.T) {
	const frame, limit = 16 << 10, 10_000
	here := value.Int(1)
	o := linkOptions(newEnv(t), "server")
	o.FrameMax, o.DeadAfter = frame, time.Hour
	server := open(t, mailbox.Options{Link: o, Listen: ":0", Local: []value.Value{here}, Queue: queue.Limits{Bytes: limit}})
	c := rawPeer(t, string(server.Addr()), o.System, 1)
	long := value.AppendWire(nil, value.String(strings.Repeat("x", frame-100)))
	for seq := byte(1); seq < 100; seq++ {
		b := slices.Concat([]byte{1, seq}, rawKey(here), []byte{0, 1, 1}, long)
		if _, err := c.Write(rawFrame(19, b)); err != nil {
			t.Fatal(err)
		}
		switch kind, b := readFrame(t, c); {
		case kind == 4 && b[0] == 8:
			if n := server.Queue(here).Bytes(); n <= 2*limit || n > 2*limit+2*frame {
				t.Errorf("refused when the mailbox had %d bytes", n)
			}
			return
		case kind != 23:
			t.Fatalf("answered by a frame of type %d, %q", kind, b)
		}
	}
	t.Error("the mailbox takes as much as a peer delivers")
}

// discard is a Recorder: what is recorded has clocks.
type discard struct{}

func (discard) Record(*tracelog.Event) error { return nil }

// relaxedPair is a receiver, a relaxed sender, and an instance of the sender
// that is traced.
func relaxedPair(t *testing.T, self value.Value, change func(*mailbox.Options), run func(tx *distsys.Tx, ref distsys.Ref, i *int) (distsys.Label, error)) (server, m *mailbox.Mailboxes, in *distsys.Instance[int]) {
	t.Helper()
	here := value.Int(0)
	e, se := newEnv(t), newEnv(t)
	server = open(t, mailbox.Options{Link: linkOptions(e, "server"), Listen: ":0", Local: []value.Value{here}})
	o := mailbox.Options{Link: linkOptions(se, "sender"), Relaxed: true, Remote: []mailbox.Remote{{Index: here, Addr: server.Addr()}}}
	change(&o)
	m = open(t, o)
	ref := distsys.NewRef("network", m.Network())
	a := &distsys.Archetype[int]{Name: "A", Sections: []distsys.Section[int]{{Name: "l", Run: func(i *int, tx *distsys.Tx) (distsys.Label, error) {
		return run(tx, ref, i)
	}}}}
	in, err := distsys.New(a, self, 0, distsys.Options{Env: se, Recorder: discard{}})
	if err != nil {
		t.Fatal(err)
	}
	return server, m, in
}

// TestWindowDoesNotWearOff: when all is acknowledged, nothing counts against the
// window of bytes, though the messages had clocks. Sections that send two
// messages wait for the acknowledgement of those before.
func TestWindowDoesNotWearOff(t *testing.T) {
	const count = 20
	server, m, in := relaxedPair(t, value.Int(1), func(o *mailbox.Options) { o.Window, o.WindowBytes = 3, 100 }, func(tx *distsys.Tx, ref distsys.Ref, i *int) (distsys.Label, error) {
		if *i == count {
			return distsys.Done, nil
		}
		*i++
		for range 1 + *i%2 {
			if err := tx.Write(ref, value.Int(int32(*i)), value.Int(0)); err != nil {
				return 0, err
			}
		}
		return 0, nil
	})
	if err := in.Run(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := m.Linger(within(t)); err != nil {
		t.Fatal(err)
	}
	if n := server.Queue(value.Int(0)).Len(); n != count*3/2 {
		t.Errorf("%d messages, want %d", n, count*3/2)
	}
	if n := m.KeptBytes(); n != 0 {
		t.Errorf("%d bytes count, and nothing is kept", n)
	}
}

// TestSectionThatIsAlone: a section that sends more bytes than the window takes
// waits only for what others have sent, and one that sends more messages fails:
// where nothing is kept, no acknowledgement makes room.
func TestSectionThatIsAlone(t *testing.T) {
	for name, c := range map[string]struct {
		window, windowBytes, messages int
		want                          string
	}{
		"more bytes":    {10, 100, 2, ""},
		"all messages":  {2, 1 << 20, 2, ""},
		"more messages": {2, 1 << 20, 3, "one section sends more than the window of 2 messages to one mailbox"},
	} {
		t.Run(name, func(t *testing.T) {
			const sections = 3 // the later ones find the window full
			server, m, in := relaxedPair(t, value.Int(1), func(o *mailbox.Options) { o.Window, o.WindowBytes = c.window, c.windowBytes }, func(tx *distsys.Tx, ref distsys.Ref, i *int) (distsys.Label, error) {
				if *i == sections {
					return distsys.Done, nil
				}
				*i++
				for range c.messages {
					if err := tx.Write(ref, value.String(strings.Repeat("x", 60)), value.Int(0)); err != nil {
						return 0, err
					}
				}
				return 0, nil
			})
			err := in.Run(within(t))
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("the section ends with %v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Linger(within(t)); err != nil {
				t.Fatal(err)
			}
			if n := server.Queue(value.Int(0)).Len(); n != sections*c.messages {
				t.Errorf("%d messages, want %d", n, sections*c.messages)
			}
		})
	}
}

// TestWindowHoldsClocks: what a relaxed sender keeps for a receiver that is away
// is within the window of bytes, though it is the clocks that take most.
func TestWindowHoldsClocks(t *testing.T) {
	const window = 1000
	_, m, in := relaxedPair(t, value.Int(1), func(o *mailbox.Options) {
		o.WindowBytes, o.Remote[0].Addr = window, "127.0.0.1:1"
	}, func(tx *distsys.Tx, ref distsys.Ref, _ *int) (distsys.Label, error) {
		return 0, tx.Write(ref, value.Int(1), value.Int(0))
	})
	for range 200 {
		in.Step()
	}
	if n := m.KeptBytes(); n > window || n < window*9/10 {
		t.Errorf("%d bytes are kept in a window of %d", n, window)
	}
}

// TestRelaxedClockHasRoomInTheFrame: a message that fits a frame, and does not
// with its clock, fails its section; the receiver would end the connection again
// and again.
func TestRelaxedClockHasRoomInTheFrame(t *testing.T) {
	_, _, in := relaxedPair(t, value.String(strings.Repeat("n", 4000)), func(o *mailbox.Options) { o.Link.FrameMax = 8 << 10 }, func(tx *distsys.Tx, ref distsys.Ref, i *int) (distsys.Label, error) {
		return distsys.Done, tx.Write(ref, value.String(strings.Repeat("x", 2900)), value.Int(0))
	})
	if err := in.Run(within(t)); err == nil || !strings.Contains(err.Error(), "exceeds the limit of a frame") {
		t.Errorf("a clock of 4,000 bytes and a message of 2,900 in a frame of 8,192: %v", err)
	}
}

// TestSenderTakesNoMoreThanAReceiver: options with which a receiver would end
// the connection again and again are refused.
func TestSenderTakesNoMoreThanAReceiver(t *testing.T) {
	for _, change := range []func(*mailbox.Options){
		func(o *mailbox.Options) { o.WindowBytes = 64<<20 + 1 },
		func(o *mailbox.Options) { o.Link.FrameMax = 32<<20 + 1 },
	} {
		o := mailbox.Options{Link: linkOptions(newEnv(t), "sender"), Relaxed: true}
		change(&o)
		if m, err := mailbox.Open(o); err == nil {
			m.Close()
			t.Errorf("WindowBytes %d and FrameMax %d are accepted", o.WindowBytes, o.Link.FrameMax)
		}
	}
}

// TestRoundTripAllocations counts the allocations of a message and its answer,
// both of one number, between two nodes over the loopback interface: all of both
// nodes, and of the sections themselves.
func TestRoundTripAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector takes memory out of pools at random")
	}
	for mode, most := range map[string]float64{"strict": 12, "relaxed": 16} {
		const times = 500
		x, y, _, _ := echoPair(t, mode == "relaxed", times)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := distsys.Run(within(t), x, y); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if got := float64(after.Mallocs-before.Mallocs) / times; got > most {
			t.Errorf("%s: a round trip makes %.1f allocations, want at most %.0f", mode, got, most)
		}
	}
}
