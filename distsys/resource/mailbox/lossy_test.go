// SPDX-License-Identifier: Apache-2.0

package mailbox_test

import (
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/distsys/resource/mailbox"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// TestLossySenderNeverWaits: a lossy sender ends although no process listens at
// the address of its receiver, and all of its messages are lost. Over a
// connection that breaks, a part of what was sent arrives, in order; over one
// that does not break any more, all arrives.
func TestLossySenderNeverWaits(t *testing.T) {
	const count = 50
	arrived, cuts := 0, 0
	for seed := range uint64(worldSeeds / 3) {
		w := newWorld(t, seed, 5+int(seed))
		here, nobody := value.Int(0), value.Int(9)
		server := open(t, mailbox.Options{Link: w.link("server"), Listen: ":0", Local: []value.Value{here}})
		m := open(t, mailbox.Options{Link: w.link("sender"), Lossy: true, Window: 3, Remote: []mailbox.Remote{{Index: here, Addr: server.Addr()}}})
		alone := open(t, mailbox.Options{Link: w.link("alone"), Lossy: true, Window: 3, Remote: []mailbox.Remote{{Index: nobody, Addr: "nobody"}}})
		pass := func() {
			if err := w.Run(time.Second); err != nil {
				t.Fatal(err)
			}
		}
		for range 10 {
			w.next() // the connection comes up, mostly
		}
		send := func(name string, m *mailbox.Mailboxes, to value.Value, n int) {
			if err := w.drive(newSender(t, w.env(name), m, value.Int(1), to, n)); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		send("a", alone, nobody, count)
		send("b", m, here, count)
		if lost := alone.Metrics().Lost; lost != count {
			t.Fatalf("seed %d: nobody listens, and of %d messages %d were lost", seed, count, lost)
		}
		pass()
		lost, n := int(m.Metrics().Lost), server.Queue(here).Len()
		if lost+n < count {
			t.Fatalf("seed %d: of %d messages %d were lost and %d arrived", seed, count, lost, n)
		}
		w.Heal()
		pass()
		send("c", m, here, 3)
		pass()
		if now := server.Queue(here).Len(); now != n+3 {
			t.Fatalf("seed %d: over a good connection %d of 3 messages arrived", seed, now-n)
		}
		rcv := newReceiver(t, w.env("receiver"), server, here, n)
		if err := w.drive(rcv); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		last := int32(0)
		for _, v := range rcv.State().got {
			if i := v.Index(2).AsInt(); i <= last {
				t.Fatalf("seed %d: message %d came after %d", seed, i, last)
			} else {
				last = i
			}
		}
		arrived += n
		cuts += w.cuts()
	}
	if arrived < 20 || cuts < 20 {
		t.Errorf("%d messages have arrived, over connections that broke %d times", arrived, cuts)
	}
}
