// SPDX-License-Identifier: Apache-2.0

package mailbox_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys/resource/mailbox"
	"github.com/ashlar-dev/ashlar/link"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// The types of frames that a sender sends, as frames.go numbers them.
const (
	deliverFrame = link.Service + 3
	sendFrame    = link.Service + 4
)

// TestFramesOfASender: what a receiver makes of frames that no sender of ours
// sends, or sends only when a connection has broken at the right moment.
func TestFramesOfASender(t *testing.T) {
	here := value.Int(0)
	key := link.AppendString(nil, string(value.AppendWire(nil, here)))
	numbers := func(low, seq uint64) []byte {
		return binary.AppendUvarint(binary.AppendUvarint(nil, low), seq)
	}
	type frame struct {
		kind    link.Type
		payload []byte
	}
	// The clock is empty.
	send := func(low, seq uint64) frame {
		b := append(slices.Concat(key, numbers(low, seq)), 0)
		return frame{sendFrame, value.AppendWire(b, value.Int(int32(seq)))}
	}
	deliver := func(low, seq uint64) frame {
		b := append(slices.Concat(numbers(low, seq), key), 0, 1, 1)
		return frame{deliverFrame, value.AppendWire(b, value.Int(int32(seq)))}
	}
	for _, c := range []struct {
		name   string
		frames []frame
		want   []int32
	}{
		{"in order", []frame{send(1, 1), send(1, 2)}, []int32{1, 2}},
		{"again", []frame{send(1, 1), send(1, 2), send(1, 2)}, []int32{1, 2}},
		{"with a gap", []frame{send(1, 1), send(1, 3)}, []int32{1}},
		{"transfers", []frame{deliver(1, 1), deliver(1, 2)}, []int32{1, 2}},
		{"a transfer again", []frame{deliver(1, 1), deliver(1, 1)}, []int32{1}},
		// Its answer was lost, and later numbers have been seen.
		{"the least open transfer again", []frame{deliver(1, 1), deliver(1, 2), deliver(2, 3), deliver(2, 2)}, []int32{1, 2, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, 1, 0)
			server := open(t, mailbox.Options{Link: w.link("server"), Listen: ":0", Local: []value.Value{here}})
			h := &hostile{}
			o := w.link("hostile")
			o.Lock, o.Service = &nolock{}, "mailbox"
			o, err := o.Complete()
			if err != nil {
				t.Fatal(err)
			}
			client := link.NewClient(&o, link.Target{Addr: server.Addr()}, h)
			for !h.up {
				if !w.next() {
					t.Fatal("no link")
				}
			}
			for _, f := range c.frames {
				if err := client.Send(link.Seal(append(link.Begin(nil, f.kind), f.payload...), 0)); err != nil {
					t.Fatal(err)
				}
			}
			for range 300 {
				w.next()
			}
			client.Close()
			var got []int32
			for server.Queue(here).Len() > 0 {
				v, err := server.Queue(here).Receive(within(t))
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, v.AsInt())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v arrived, want %v", got, c.want)
			}
		})
	}
}
