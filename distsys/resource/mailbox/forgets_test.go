// SPDX-License-Identifier: Apache-2.0

package mailbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/mailbox"
	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// TestReceiverForgets: a receiver crashes, and its crash clears its mailbox. Its next
// life reads nothing that the life before has read, or that was sent before something
// that it has read; messages are missing only where it crashed; and each message is either
// acknowledged or forgotten.
func TestReceiverForgets(t *testing.T) {
	modes(t, func(t *testing.T, relaxed bool) {
		forgotten, missing := uint64(0), 0
		for seed := range uint64(150) {
			const senders, count = 2, 20
			w := newWorld(t, seed+5000, 5+int(seed%40))
			here := value.Int(0)
			o := mailbox.Options{Link: w.link("server"), Listen: ":0", Local: []value.Value{here}, Queue: queue.Limits{Messages: 3}, HoldTime: 3 * time.Millisecond}
			server := open(t, o)
			o.Listen = server.Addr()
			rcv := newReceiver(t, w.env("receiver"), server, here, 1000)
			var boxes []*mailbox.Mailboxes
			var procs []distsys.Process
			for i := range senders {
				name := fmt.Sprint("sender", i)
				m := open(t, mailbox.Options{Link: w.link(name), Relaxed: relaxed, Window: 5,
					Remote: []mailbox.Remote{{Index: here, Addr: o.Listen, Forgets: true}}})
				boxes = append(boxes, m)
				procs = append(procs, newSender(t, w.env(name), m, value.Int(int32(i)), here, count))
			}
			var first, second []value.Value
			lives, reads := 1, 1+env.IntN(w.rng, senders*count/2)
			done := func() bool {
				for _, m := range boxes {
					if c := m.Metrics(); c.Sent+c.Forgotten < count {
						return false
					}
				}
				return lives == 2 && server.Queue(here).Len() == 0
			}
			for steps := 0; !done(); steps++ {
				if steps > 300_000 {
					t.Fatalf("seed %d: it does not end; read %v, then %v", seed, first, second)
				}
				switch k := env.IntN(w.rng, 2*senders+2); {
				case k < senders:
					procs[k].Step()
				case k == senders:
					rcv.Step()
				default:
					w.next()
				}
				if lives == 2 {
					second = rcv.State().got
				} else if first = rcv.State().got; len(first) >= reads {
					lives = 2
					rcv.Close()
					server.Close()
					o.Link = w.link("server")
					server = open(t, o)
					rcv = newReceiver(t, w.env("receiver2"), server, here, 1000)
				}
			}
			last := map[string]int32{}
			for life, got := range [][]value.Value{first, second} {
				begun := map[string]bool{}
				for _, v := range got {
					who, n := v.Index(1).String(), v.Index(2).AsInt()
					if n <= last[who] || n > last[who]+1 && (life == 0 || begun[who]) {
						t.Fatalf("seed %d, life %d: %s after %d of the same sender; read %v, then %v", seed, life+1, v, last[who], first, second)
					}
					if n > last[who]+1 {
						missing++
					}
					last[who], begun[who] = n, true
				}
			}
			for _, m := range boxes {
				forgotten += m.Metrics().Forgotten
			}
		}
		if forgotten < 20 || missing < 20 {
			t.Errorf("%d messages were forgotten, and in %d places some are missing: the test is too weak", forgotten, missing)
		}
	})
}
