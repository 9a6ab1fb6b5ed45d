// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/link"
)

// batchIn is the payload of the batch that is one whole frame.
func batchIn(t interface{ Fatalf(string, ...any) }, frame []byte) []byte {
	s := link.Scanner{Max: wire.FrameMax}
	s.Feed(frame)
	f, ok, err := s.Next()
	if err != nil || !ok || f.Type != wire.TypeBatch {
		t.Fatalf("%x is no batch: %v, %v", frame, f.Type, err)
	}
	return f.Payload
}

// TestBodies: what is written is what the format's page says, and is read again.
func TestBodies(t *testing.T) {
	h := wire.Hello{Role: wire.Client, Window: 3, Seen: 4, Last: 5, Incarnation: 8}
	b := wire.AppendHello(nil, &h)
	if want := "\x01\x03\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00"; string(b) != want {
		t.Errorf("hello %x, want %x", b, want)
	}
	if got, err := wire.DecodeHello(b); err != nil || got != h {
		t.Errorf("hello %+v, %v", got, err)
	}
	w := wire.Welcome{Last: 2, Window: 3, Incarnation: 6}
	b = wire.AppendWelcome(nil, &w)
	if want := "\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00"; string(b) != want {
		t.Errorf("welcome %x, want %x", b, want)
	}
	if got, err := wire.DecodeWelcome(b); err != nil || got != w {
		t.Errorf("welcome %+v, %v", got, err)
	}
	if b := wire.AppendAck(nil, 7); string(b[4:14]) != "\x01\x11\x07\x00\x00\x00\x00\x00\x00\x00" {
		t.Errorf("ack %x", b)
	}
}

// TestRefused: what says nothing.
func TestRefused(t *testing.T) {
	h := wire.AppendHello(nil, &wire.Hello{})
	for _, c := range []struct {
		name, want string
		err        func() error
	}{
		{"hello cut off", "bad hello", func() error { _, err := wire.DecodeHello(h[:len(h)-1]); return err }},
		{"hello with more", "extra bytes", func() error { _, err := wire.DecodeHello(append(bytes.Clone(h), 0)); return err }},
		{"role", "unknown role 9", func() error { _, err := wire.DecodeHello(append([]byte{9}, h[1:]...)); return err }},
		{"welcome", "bad welcome", func() error { _, err := wire.DecodeWelcome(make([]byte, 7)); return err }},
		{"ack", "bad ack", func() error { _, err := wire.DecodeAck(make([]byte, 9)); return err }},
		{"batch without a number", "the batch has no number", func() error { _, _, err := wire.Batch(make([]byte, 8)); return err }},
		{"batch too short", "bad batch", func() error { _, _, err := wire.Batch(make([]byte, 7)); return err }},
		{"row longer than the batch", "malformed message", func() error { _, _, err := wire.Batch([]byte{1, 0, 0, 0, 0, 0, 0, 0, 1, 5, 0}); return err }},
		{"row a byte longer than the batch", "malformed message", func() error {
			_, _, err := wire.Batch([]byte{1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0}[:11:11])
			return err
		}},
		{"relation too great", "malformed message", func() error {
			_, _, err := wire.Batch(append([]byte{1, 0, 0, 0, 0, 0, 0, 0}, wire.AppendMessage(nil, wire.RelationMax, nil)...))
			return err
		}},
	} {
		if err := c.err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestOutbox: a stream of messages over connections that come and go; the other side
// takes batches in order, and acknowledges some.
func TestOutbox(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := wire.Outbox{Max: rapid.IntRange(100, 4000).Draw(t, "max")}
		window := rapid.IntRange(1, 1000).Draw(t, "window")
		var sent, came []string
		last, acked := uint64(0), uint64(0) // of batches that came, and that the other side has acknowledged
		connected := false
		held := 0
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				row := fmt.Sprint(len(sent), strings.Repeat("x", rapid.IntRange(0, 200).Draw(t, "row")))
				room := o.Bytes() == 0 || o.Bytes()+len(row)+2*binary.MaxVarintLen32 <= o.Max
				if o.Add(5, []byte(row)) != room {
					t.Fatalf("%d bytes of %d, and a row of %d was taken: %v", o.Bytes(), o.Max, len(row), !room)
				}
				if room {
					sent = append(sent, row)
				}
			},
			"connect": func(t *rapid.T) {
				connected = true
				if err := o.Resume(last); err != nil {
					t.Fatal(err)
				}
			},
			"lose": func(*rapid.T) { connected = false },
			"write": func(t *rapid.T) {
				if !connected {
					return
				}
				o.Seal()
				b := o.Next(window)
				if b == nil {
					return
				}
				if f := o.Flying(); f > 0 && f+len(b) > window {
					t.Fatalf("%d bytes are flying, %d are given, and the window is %d", f, len(b), window)
				}
				b = bytes.Clone(b)
				o.Sent()
				if rapid.Bool().Draw(t, "lost") {
					connected = false
					return
				}
				seq, m, err := wire.Batch(batchIn(t, b))
				if err != nil || seq != last+1 {
					t.Fatalf("batch %d after %d, %v", seq, last, err)
				}
				last = seq
				for {
					r, row, ok := m.Next()
					if !ok {
						break
					}
					if r != 5 {
						t.Fatalf("relation %d", r)
					}
					came = append(came, string(row))
				}
			},
			"ack": func(t *rapid.T) {
				acked = rapid.Uint64Range(acked, last).Draw(t, "acked")
				if connected {
					if err := o.Ack(acked); err != nil {
						t.Fatal(err)
					}
				}
			},
			"": func(t *rapid.T) {
				held = o.Bytes()
				if o.Flying() > held || o.Flying() < 0 {
					t.Fatalf("%d of %d bytes are flying", o.Flying(), held)
				}
				if o.Ack(last+100) == nil {
					t.Fatal("what was never sent is acknowledged")
				}
			},
		})
		if !connected {
			if err := o.Resume(last); err != nil {
				t.Fatal(err)
			}
		}
		o.Seal()
		for b := o.Next(1 << 30); b != nil; b = o.Next(1 << 30) {
			seq, m, err := wire.Batch(batchIn(t, b))
			if err != nil || seq != last+1 {
				t.Fatalf("batch %d after %d, %v", seq, last, err)
			}
			last = seq
			for {
				_, row, ok := m.Next()
				if !ok {
					break
				}
				came = append(came, string(row))
			}
			o.Sent()
		}
		if err := o.Ack(last); err != nil || o.Bytes() != 0 || o.Flying() != 0 {
			t.Fatalf("all is acknowledged, and %d bytes are held: %v", o.Bytes(), err)
		}
		if !reflect.DeepEqual(sent, came) {
			t.Fatalf("sent %d messages, %d came", len(sent), len(came))
		}
	})
}

// FuzzPayloads: whatever a payload says, the decoders answer or refuse; what is
// accepted is written as it was read.
func FuzzPayloads(f *testing.F) {
	f.Add(byte(0), wire.AppendHello(nil, &wire.Hello{}))
	f.Add(byte(1), wire.AppendWelcome(nil, &wire.Welcome{}))
	f.Add(byte(2), append([]byte{1, 0, 0, 0, 0, 0, 0, 0}, wire.AppendMessage(wire.AppendMessage(nil, 1, []byte("row")), 2, nil)...))
	f.Add(byte(3), make([]byte, 8))
	f.Fuzz(func(t *testing.T, what byte, payload []byte) {
		var again []byte
		switch what % 4 {
		case 0:
			h, err := wire.DecodeHello(payload)
			if err != nil {
				return
			}
			again = wire.AppendHello(nil, &h)
		case 1:
			w, err := wire.DecodeWelcome(payload)
			if err != nil {
				return
			}
			again = wire.AppendWelcome(nil, &w)
		case 2:
			_, m, err := wire.Batch(payload)
			if err != nil {
				return
			}
			n := 0
			for rest := len(m); ; rest = len(m) {
				_, row, ok := m.Next()
				if !ok {
					break
				}
				if len(row) > rest || len(m) >= rest {
					t.Fatalf("a message of %d bytes of %d leaves %d", len(row), rest, len(m))
				}
				n++
			}
			if len(m) > 0 {
				t.Fatalf("%d messages, and %d bytes are left", n, len(m))
			}
			return
		case 3:
			seq, err := wire.DecodeAck(payload)
			if err != nil {
				return
			}
			again = wire.AppendAck(nil, seq)
			again = again[6 : len(again)-4]
		}
		if !bytes.Equal(again, payload) {
			t.Fatalf("%x is written as %x", payload, again)
		}
	})
}
