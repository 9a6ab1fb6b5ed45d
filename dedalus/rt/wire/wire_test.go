package wire_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
)

// scan gives a Scanner the stream in pieces of n bytes and answers its frames.
func scan(t testing.TB, open bool, stream []byte, n int) (frames []wire.Frame, err error) {
	t.Helper()
	s := wire.Scanner{Open: open}
	for len(stream) > 0 {
		k := min(n, len(stream))
		s.Feed(stream[:k])
		stream = stream[k:]
		for {
			f, ok, err := s.Next()
			if err != nil {
				if _, _, again := s.Next(); again != err {
					t.Fatalf("after %v: %v", err, again)
				}
				return frames, err
			}
			if !ok {
				break
			}
			f.Payload = bytes.Clone(f.Payload)
			frames = append(frames, f)
		}
	}
	return frames, nil
}

func hello() wire.Hello {
	return wire.Hello{Version: wire.Version, Role: wire.Client, Program: 1, Life: 2, Window: 3, Seen: 4, Last: 5, Incarnation: 8,
		Nonce: wire.Nonce{6, 7}, From: "c1", To: "leader/0"}
}

// TestHandshake: what is written is read again, in pieces of any length.
func TestHandshake(t *testing.T) {
	h, w, r := hello(), wire.Welcome{Life: 1, Last: 2, Window: 3, Incarnation: 6, Nonce: wire.Nonce{4}, Proof: wire.Proof{5}}, wire.Refusal{Code: wire.RefusalKey, Text: "no"}
	p := wire.Prove([]byte("key"), true, &h, &w)
	stream := wire.AppendPing(wire.AppendRefusal(wire.AppendProof(wire.AppendWelcome(wire.AppendHello(nil, &h), &w), p), &r), true)
	for n := 1; n <= len(stream); n++ {
		frames, err := scan(t, false, stream, n)
		if err != nil || len(frames) != 5 {
			t.Fatalf("in pieces of %d: %d frames, %v", n, len(frames), err)
		}
		gotH, err := wire.DecodeHello(frames[0].Payload)
		if err != nil || gotH != h {
			t.Errorf("hello %+v, %v", gotH, err)
		}
		gotW, err := wire.DecodeWelcome(frames[1].Payload)
		if err != nil || gotW != w {
			t.Errorf("welcome %+v, %v", gotW, err)
		}
		gotP, err := wire.DecodeProof(frames[2].Payload)
		if err != nil || !gotP.Same(p) {
			t.Errorf("proof %x, %v", gotP, err)
		}
		gotR, err := wire.DecodeRefusal(frames[3].Payload)
		if err != nil || *gotR != r || !strings.Contains(gotR.Error(), "no (key)") {
			t.Errorf("refusal %v, %v", gotR, err)
		}
		if frames[4].Type != wire.TypePong {
			t.Errorf("%v in place of a pong", frames[4].Type)
		}
	}
}

// TestRefused: what is no frame, and frames that say nothing.
func TestRefused(t *testing.T) {
	frame := func(typ byte, payload string) []byte {
		b := append([]byte{0, 0, 0, 0, typ}, payload...)
		binary.LittleEndian.PutUint32(b, uint32(len(b)))
		return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	}
	h := hello()
	whole := wire.AppendHello(nil, &h)
	damaged := bytes.Clone(whole)
	damaged[20] ^= 1
	for _, c := range []struct {
		name, want string
		stream     []byte
		open       bool
	}{
		{"damaged", "wrong checksum", damaged, false},
		{"unknown type", "unknown type 77", frame(77, ""), false},
		{"no type", "unknown type 0", frame(0, ""), false},
		{"too short", "are no frame", []byte{3, 0, 0, 0, 1, 2, 3}, false},
		{"long before the handshake", "limit is 2048", []byte{0, 1, 1, 0, 1}, false},
		{"long", "limit is 8388608", []byte{0, 0, 255, 0, 1}, true},
	} {
		if _, err := scan(t, c.open, c.stream, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	for _, c := range []struct {
		name, want string
		err        func() error
	}{
		{"hello of another protocol", "does not begin", func() error { _, err := wire.DecodeHello([]byte("GET / HTTP/1.1\r\n")); return err }},
		{"hello cut off", "bytes", func() error { _, err := wire.DecodeHello(whole[5:40]); return err }},
		{"name cut off", "cut off", func() error { _, err := wire.DecodeHello(whole[5 : len(whole)-6]); return err }},
		{"hello with more", "too many", func() error { _, err := wire.DecodeHello(append(bytes.Clone(whole[5:len(whole)-4]), 0)); return err }},
		{"role", "unknown role 9", func() error {
			b := bytes.Clone(whole[5 : len(whole)-4])
			b[10] = 9
			_, err := wire.DecodeHello(b)
			return err
		}},
		{"welcome", "bad welcome", func() error { _, err := wire.DecodeWelcome(make([]byte, 7)); return err }},
		{"proof", "bad proof", func() error { _, err := wire.DecodeProof(make([]byte, 7)); return err }},
		{"refusal", "bad refusal", func() error { _, err := wire.DecodeRefusal(nil); return err }},
		{"ack", "bad ack", func() error { _, err := wire.DecodeAck(make([]byte, 9)); return err }},
		{"batch without a number", "without a number", func() error { _, _, err := wire.Batch(make([]byte, 8)); return err }},
		{"batch too short", "bad batch", func() error { _, _, err := wire.Batch(make([]byte, 7)); return err }},
		{"row longer than the batch", "message that is none", func() error { _, _, err := wire.Batch([]byte{1, 0, 0, 0, 0, 0, 0, 0, 1, 5, 0}); return err }},
		{"row a byte longer than the batch", "message that is none", func() error {
			_, _, err := wire.Batch([]byte{1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0}[:11:11])
			return err
		}},
		{"relation too great", "message that is none", func() error {
			_, _, err := wire.Batch(append([]byte{1, 0, 0, 0, 0, 0, 0, 0}, wire.AppendMessage(nil, wire.RelationMax, nil)...))
			return err
		}},
	} {
		if err := c.err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	h.Version = 9
	if got, err := wire.DecodeHello(wire.AppendHello(nil, &h)[5:]); err != nil || got.Version != 9 || got.From != "" {
		t.Errorf("a hello of version 9: %+v, %v", got, err)
	}
}

// TestProofIsForOneConnection: another key, side, nonce, name or life makes another.
func TestProofIsForOneConnection(t *testing.T) {
	h, w := hello(), wire.Welcome{Life: 1}
	first := wire.Prove([]byte("key"), true, &h, &w)
	if first.Same(wire.Proof{}) || !first.Same(wire.Prove([]byte("key"), true, &h, &w)) {
		t.Fatal("a proof is not itself, or nothing")
	}
	if !wire.Prove(nil, true, &h, &w).Same(wire.Proof{}) {
		t.Error("without a key there is a proof")
	}
	for i := range 7 {
		key, dialled, g, v := "key", true, h, w
		switch i {
		case 0:
			key = "kez"
		case 1:
			dialled = false
		case 2:
			g.Nonce[0]++
		case 3:
			v.Nonce[15]++
		case 4:
			g.From = "c2"
		case 5:
			g.To = "leader/1"
		case 6:
			v.Life++
		}
		if first.Same(wire.Prove([]byte(key), dialled, &g, &v)) {
			t.Errorf("change %d makes the same proof", i)
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
				frames, err := scan(testingT(t), true, b, len(b))
				if err != nil || len(frames) != 1 {
					t.Fatal(err)
				}
				seq, m, err := wire.Batch(frames[0].Payload)
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
			seq, m, err := wire.Batch(b[5 : len(b)-4])
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

// testingT is what scan wants of a test.
func testingT(t *rapid.T) testing.TB { return shim{t: t} }

type shim struct {
	testing.TB
	t *rapid.T
}

func (s shim) Helper()                   {}
func (s shim) Fatalf(f string, a ...any) { s.t.Fatalf(f, a...) }

// FuzzStream: whatever comes, a Scanner and the decoders answer or refuse, and do the
// same however the stream is cut; what is accepted is written as it was read.
func FuzzStream(f *testing.F) {
	h, w := hello(), wire.Welcome{Life: 1}
	f.Add(wire.AppendWelcome(wire.AppendHello(nil, &h), &w), 3)
	o := wire.Outbox{Max: 1000}
	o.Add(1, []byte("row"))
	o.Add(2, nil)
	o.Seal()
	f.Add(bytes.Clone(o.Next(1000)), 7)
	f.Add(wire.AppendAck(wire.AppendPing(nil, false), 9), 1)
	f.Add(wire.AppendRefusal(nil, &wire.Refusal{Code: 3, Text: "why"}), 100)
	f.Fuzz(func(t *testing.T, stream []byte, n int) {
		n = max(1, min(n, 1<<20))
		frames, err := scan(t, true, stream, n)
		whole, werr := scan(t, true, stream, max(1, len(stream)))
		if !reflect.DeepEqual(frames, whole) || (err == nil) != (werr == nil) {
			t.Fatalf("in pieces of %d: %d frames, %v; at once: %d frames, %v", n, len(frames), err, len(whole), werr)
		}
		for _, fr := range frames {
			decode(t, fr)
		}
		// Damaged frames say nothing; so what is behind the checksum is asked, too.
		for typ := wire.TypeHello; typ <= wire.TypePong; typ++ {
			decode(t, wire.Frame{Type: typ, Payload: stream})
		}
	})
}

func decode(t *testing.T, f wire.Frame) {
	var again []byte
	switch f.Type {
	case wire.TypeHello:
		h, err := wire.DecodeHello(f.Payload)
		if err != nil || h.Version != wire.Version {
			return
		}
		again = wire.AppendHello(nil, &h)
	case wire.TypeWelcome:
		w, err := wire.DecodeWelcome(f.Payload)
		if err != nil {
			return
		}
		again = wire.AppendWelcome(nil, &w)
	case wire.TypeProof:
		p, err := wire.DecodeProof(f.Payload)
		if err != nil {
			return
		}
		again = wire.AppendProof(nil, p)
	case wire.TypeRefusal:
		r, err := wire.DecodeRefusal(f.Payload)
		if err != nil {
			return
		}
		again = wire.AppendRefusal(nil, r)
	case wire.TypeAck:
		seq, err := wire.DecodeAck(f.Payload)
		if err != nil {
			return
		}
		again = wire.AppendAck(nil, seq)
	case wire.TypeBatch:
		_, m, err := wire.Batch(f.Payload)
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
	default:
		return
	}
	if !bytes.Equal(again[5:len(again)-4], f.Payload) {
		t.Fatalf("a %v of %x is written as %x", f.Type, f.Payload, again[5:len(again)-4])
	}
}
