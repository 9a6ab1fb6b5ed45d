// SPDX-License-Identifier: Apache-2.0

package mailbox_test

import (
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/mailbox"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// TestSendersOfOneLife: two nodes whose users chose the same life, and one after
// the other of the same name and life, are different senders: each message of
// each arrives.
func TestSendersOfOneLife(t *testing.T) {
	modes(t, func(t *testing.T, relaxed bool) {
		const senders, count = 3, 20
		here := value.Int(100)
		e := newEnv(t)
		server := open(t, mailbox.Options{Link: linkOptions(e, "server"), Listen: ":0", Local: []value.Value{here}})
		rcv := newReceiver(t, e, server, here, senders*count)
		ended := make(chan error, 1)
		go func() { ended <- rcv.Run(within(t)) }()
		send := func(i int, name string) *mailbox.Mailboxes {
			se := newEnv(t)
			o := linkOptions(se, name)
			o.Life = 7
			m := open(t, mailbox.Options{Link: o, Relaxed: relaxed, Remote: []mailbox.Remote{{Index: here, Addr: server.Addr()}}})
			if err := newSender(t, se, m, value.Int(int32(i)), here, count).Run(within(t)); err != nil {
				t.Fatal(err)
			}
			if err := m.Linger(within(t)); err != nil {
				t.Fatal(err)
			}
			return m
		}
		send(0, "a")
		send(1, "b").Close()
		send(2, "b")
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		checkFIFO(t, rcv.State().got, senders, count)
	})
}

// TestTwoAddressesOfOneReceiver: a node whose mailboxes are reached by two
// addresses is sent to by both.
func TestTwoAddressesOfOneReceiver(t *testing.T) {
	modes(t, func(t *testing.T, relaxed bool) {
		const count = 20
		boxes := []value.Value{value.Int(100), value.Int(101)}
		e := newEnv(t)
		server := open(t, mailbox.Options{Link: linkOptions(e, "server"), Listen: "127.0.0.1:0", Local: boxes})
		se := newEnv(t)
		m := open(t, mailbox.Options{Link: linkOptions(se, "sender"), Relaxed: relaxed, Remote: []mailbox.Remote{
			{Index: boxes[0], Addr: server.Addr()},
			{Index: boxes[1], Addr: "[::ffff:127.0.0.1]" + server.Addr()[len("127.0.0.1"):]},
		}})
		var procs []distsys.Process
		var receivers []*distsys.Instance[receiver]
		for i, b := range boxes {
			r := newReceiver(t, e, server, b, count)
			receivers = append(receivers, r)
			procs = append(procs, r, newSender(t, se, m, value.Int(int32(i)), b, count))
		}
		if err := distsys.Run(within(t), procs...); err != nil {
			t.Fatal(err)
		}
		for i, r := range receivers {
			for n, v := range r.State().got {
				if want := fmt.Sprintf("<<%d, %d>>", i, n+1); v.String() != want {
					t.Fatalf("message %d of mailbox %d is %s, want %s", n, i, v, want)
				}
			}
		}
		if n := m.Metrics().Connects; n != 2 {
			t.Errorf("%d connections came up, want one for each address", n)
		}
	})
}
