// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/hex"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// The lengths of a frame before and after its payload, by docs/format/link.md.
const (
	lengthLen = 4
	headLen   = 6
	tailLen   = 4
	frameMin  = headLen + tailLen
)

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// word is the content of a frame of any type.
type word struct {
	typ     Type
	id, pos uint64
	budget  time.Duration
	request wor.Request
	reply   wor.Reply
	note    wor.Note
	hello   Hello
	welcome Welcome
	service wor.Service
	code    Code
	payload []byte
}

func (w *word) encode(e *Encoder) error {
	switch w.typ {
	case TypeHello:
		e.Hello(&w.hello)
	case TypeWelcome:
		e.Welcome(&w.welcome)
	case TypeRequest:
		return e.Request(w.id, w.budget, &w.request)
	case TypeReply:
		return e.Reply(w.id, w.pos, &w.reply)
	case TypeNote:
		return e.Note(w.id, &w.note)
	case TypeInvoke:
		return e.Invoke(w.id, w.budget, w.service, w.payload)
	case TypeAnswer:
		return e.Answer(w.id, w.code, w.payload)
	case TypePing:
		e.Ping(w.id)
	case TypePong:
		e.Pong(w.id)
	}
	return nil
}

func decode(f Frame) (w word, err error) {
	w.typ = f.Type
	switch f.Type {
	case TypeHello:
		err = DecodeHello(f.Payload, &w.hello)
	case TypeWelcome:
		err = DecodeWelcome(f.Payload, &w.welcome)
	case TypeRequest:
		w.id, w.budget, err = DecodeRequest(f.Payload, &w.request)
	case TypeReply:
		w.id, w.pos, err = DecodeReply(f.Payload, &w.reply)
	case TypeNote:
		w.id, err = DecodeNote(f.Payload, &w.note)
	case TypeInvoke:
		w.id, w.budget, w.service, w.payload, err = DecodeInvoke(f.Payload)
	case TypeAnswer:
		w.id, w.code, w.payload, err = DecodeAnswer(f.Payload)
	case TypePing, TypePong:
		w.id, err = DecodePing(f.Payload)
	}
	return w, err
}

func drawBytes(t *rapid.T, label string) []byte {
	b := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, label)
	if len(b) == 0 {
		return nil
	}
	return b
}

// number draws numbers of all lengths, and zero often.
func number(t *rapid.T, label string, bits int) uint64 {
	n := rapid.IntRange(0, bits).Draw(t, label+" bits")
	if n == 0 {
		return 0
	}
	return rapid.Uint64().Draw(t, label) >> (64 - n)
}

func drawBallot(t *rapid.T, label string) wor.Ballot {
	switch rapid.IntRange(0, 2).Draw(t, label+" kind") {
	case 0:
		return wor.Ballot{}
	case 1: // one of a few, so that neighbours have the same
		return wor.Ballot{Round: uint64(rapid.IntRange(0, 1).Draw(t, label)), Nonce: 7}
	}
	return wor.Ballot{Round: number(t, label+" round", 64), Nonce: number(t, label+" nonce", 64)}
}

func drawRun(t *rapid.T) wor.Run {
	r := wor.Run{
		Count: 1 + uint32(number(t, "count", 10)), Status: wor.Status(number(t, "status", 8)),
		Promised: drawBallot(t, "promised"), Written: rapid.Bool().Draw(t, "written"), Accepted: drawBallot(t, "accepted"),
		Value: drawBytes(t, "value"),
	}
	if rapid.Bool().Draw(t, "same") {
		r.Accepted = r.Promised
	}
	return r
}

func drawWord(t *rapid.T) word {
	w := word{typ: Type(rapid.IntRange(1, len(typeNames)-1).Draw(t, "type"))}
	switch w.typ {
	case TypeHello:
		w.hello = Hello{Version: uint16(rapid.IntRange(0, Version).Draw(t, "version")), Peer: rapid.Bool().Draw(t, "peer"),
			Cluster: number(t, "cluster", 64), From: number(t, "from", 64), To: wor.ServerID(number(t, "to", 64)),
			Generation: number(t, "generation", 64), Position: number(t, "position", 64)}
		if rapid.Bool().Draw(t, "challenged") {
			w.hello.Challenge[0], w.hello.Challenge[15] = 1, byte(number(t, "challenge", 8))
		}
		return w
	case TypeWelcome:
		w.welcome = Welcome{Version: uint16(number(t, "version", 16)), Refusal: Refusal(number(t, "refusal", 7)),
			Cluster: number(t, "cluster", 64), Server: wor.ServerID(number(t, "server", 64)),
			Generation: number(t, "generation", 64), Position: number(t, "position", 64), Text: string(drawBytes(t, "text"))}
		if rapid.Bool().Draw(t, "proven") {
			w.welcome.Proof = bytes.Repeat([]byte{byte(number(t, "proof", 8))}, ProofLen)
		}
		return w
	}
	w.id = rapid.Uint64().Draw(t, "id")
	switch w.typ {
	case TypeRequest, TypeInvoke:
		w.budget = time.Duration(number(t, "budget", 50)) * time.Microsecond
	}
	switch w.typ {
	case TypeRequest:
		lo, n := uint32(number(t, "lo", 32)), uint32(number(t, "len", 32))
		w.request = wor.Request{Kind: wor.Kind(number(t, "kind", 8)), Protocol: wor.Protocol(number(t, "protocol", 8)),
			Flags: uint8(number(t, "flags", 8)), Partition: wor.Partition(number(t, "partition", 32)), Epoch: wor.Epoch(number(t, "epoch", 32)),
			Range: wor.Range{Segment: wor.Segment(number(t, "segment", 64)), Lo: lo, Hi: lo + n}, Ballot: drawBallot(t, "ballot"),
			Value: drawBytes(t, "value"), Tag: number(t, "tag", 64), Cursor: number(t, "cursor", 64), Digest: number(t, "digest", 64)}
	case TypeReply:
		w.pos = number(t, "position", 64)
		w.reply = wor.Reply{Status: wor.Status(number(t, "status", 8)), Epoch: wor.Epoch(number(t, "epoch", 32)),
			Value: drawBytes(t, "value"), Digest: number(t, "digest", 64), Cursor: number(t, "cursor", 64)}
		for range rapid.IntRange(0, 6).Draw(t, "runs") {
			w.reply.Runs = append(w.reply.Runs, drawRun(t))
		}
	case TypeNote:
		w.note = wor.Note{Partition: wor.Partition(number(t, "partition", 32)), Epoch: wor.Epoch(number(t, "epoch", 32)),
			Number: number(t, "number", 64), Addr: wor.Addr{Segment: wor.Segment(number(t, "segment", 64)), Offset: uint32(number(t, "offset", 32))},
			Ballot: drawBallot(t, "ballot"), Value: drawBytes(t, "value")}
	case TypeInvoke:
		w.service, w.payload = wor.Service(number(t, "service", 16)), drawBytes(t, "payload")
	case TypeAnswer:
		w.code, w.payload = Code(number(t, "code", 8)), drawBytes(t, "payload")
	}
	return w
}

// TestRoundTrip: messages that are encoded, many frames to a piece, are unchanged when
// they leave a Scanner that got them in pieces of any length.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e Encoder
		words := make([]word, rapid.IntRange(1, 5).Draw(t, "words"))
		for i := range words {
			words[i] = drawWord(t)
			if err := words[i].encode(&e); err != nil {
				t.Fatal(err)
			}
		}
		stream := bytes.Clone(e.Bytes())
		var s Scanner
		got := 0
		for len(stream) > 0 {
			n := rapid.IntRange(1, len(stream)).Draw(t, "piece")
			s.Feed(bytes.Clone(stream[:n]))
			stream = stream[n:]
			for {
				f, ok, err := s.Next()
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				w, err := decode(f)
				if err != nil {
					t.Fatalf("%v: %v", f.Type, err)
				}
				if !reflect.DeepEqual(w, words[got]) {
					t.Fatalf("got %+v, want %+v", w, words[got])
				}
				got++
			}
		}
		if got != len(words) || s.Buffered() != 0 {
			t.Fatalf("%d frames of %d, %d bytes are left", got, len(words), s.Buffered())
		}
	})
}

// examples are a word of each type with every field.
func examples() []word {
	ballot, other := wor.Ballot{Round: 300, Nonce: 0x0123456789abcdef}, wor.Ballot{Round: 2, Nonce: 9}
	return []word{
		{typ: TypeHello, hello: Hello{Version: 1, Peer: true, Cluster: 0xc1, From: 0xf2, To: 0xa3, Generation: 4, Position: 500}},
		{typ: TypeWelcome, welcome: Welcome{Version: 1, Refusal: RefusalBehind, Cluster: 0xc1, Server: 0xa3, Generation: 4, Position: 499, Text: "behind"}},
		{typ: TypeHello, hello: Hello{Version: 1, Cluster: 0xc1, From: 0xf2, To: 0xa3, Challenge: Challenge{1, 15: 16}}},
		{typ: TypeWelcome, welcome: Welcome{Version: 1, Cluster: 0xc1, Server: 0xa3, Generation: 4, Position: 500, Proof: bytes.Repeat([]byte{0xab}, ProofLen), Text: "hi"}},
		{typ: TypeRequest, id: 0x1122, budget: 1500 * time.Microsecond, request: wor.Request{Kind: wor.KindStage, Protocol: wor.Fast, Flags: wor.FlagLast,
			Partition: 3, Epoch: 200, Range: wor.Range{Segment: 1000, Lo: 5, Hi: 300}, Ballot: ballot, Value: []byte("value"), Tag: 7, Cursor: 129, Digest: 8}},
		{typ: TypeReply, id: 0x1122, pos: 1 << 20, reply: wor.Reply{Status: wor.StatusSealed, Epoch: 2, Value: []byte("config"), Digest: 5, Cursor: 6, Runs: []wor.Run{
			{Count: 1, Promised: ballot},
			{Count: 200, Promised: ballot, Written: true, Accepted: ballot, Value: []byte("a")},
			{Count: 1, Status: wor.StatusOutbid, Promised: other, Written: true, Accepted: ballot},
			{Count: 1, Written: true, Value: []byte("b")},
		}}},
		{typ: TypeNote, id: 0x33, note: wor.Note{Partition: 1, Epoch: 2, Number: 300, Addr: wor.Addr{Segment: wor.ReservedSegment, Offset: wor.TrimOffset}, Ballot: other, Value: []byte("n")}},
		{typ: TypeInvoke, id: 0x44, budget: time.Second, service: wor.ServiceKV, payload: []byte("ask")},
		{typ: TypeAnswer, id: 0x44, code: CodeLimit, payload: []byte("no")},
		{typ: TypePing, id: 0x55},
		{typ: TypePong, id: 0x55},
	}
}

// TestGolden: the bytes of a frame of each type are those in testdata. They must not
// change within a version; ASHLAR_GOLDEN=1 writes them for a new one.
func TestGolden(t *testing.T) {
	var out strings.Builder
	for _, w := range examples() {
		var e Encoder
		must(t, w.encode(&e))
		out.WriteString(w.typ.String() + " " + hex.EncodeToString(e.Bytes()) + "\n")
	}
	name := filepath.Join("testdata", "frames.txt")
	if os.Getenv("ASHLAR_GOLDEN") != "" {
		must(t, os.WriteFile(name, []byte(out.String()), 0o644))
	}
	want, err := os.ReadFile(name)
	must(t, err)
	if got := out.String(); got != string(want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(want)), "\n") {
		_, digits, _ := strings.Cut(line, " ")
		b, err := hex.DecodeString(digits)
		must(t, err)
		var s Scanner
		s.Feed(b)
		f, ok, err := s.Next()
		if err != nil || !ok {
			t.Fatalf("%s: %v, %v", line, ok, err)
		}
		got, err := decode(f)
		must(t, err)
		if want := examples()[i]; !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// TestReuse: a reused target keeps nothing of its former content, and a value has no room
// behind it that belongs to something else.
func TestReuse(t *testing.T) {
	full, bare := examples(), []word{
		{typ: TypeHello}, {typ: TypeWelcome}, {typ: TypeRequest}, {typ: TypeReply}, {typ: TypeNote},
	}
	var q wor.Request
	var r wor.Reply
	var n wor.Note
	var h Hello
	var w Welcome
	for _, some := range [][]word{full, bare} {
		for _, one := range some {
			var e Encoder
			must(t, one.encode(&e))
			payload := e.Bytes()[headLen : e.Len()-tailLen : e.Len()-tailLen]
			var err error
			switch one.typ {
			case TypeHello:
				err = DecodeHello(payload, &h)
			case TypeWelcome:
				err = DecodeWelcome(payload, &w)
			case TypeRequest:
				_, _, err = DecodeRequest(payload, &q)
			case TypeReply:
				_, _, err = DecodeReply(payload, &r)
				for _, run := range r.Runs {
					if cap(run.Value) != len(run.Value) {
						t.Errorf("a value of %d bytes has room for %d", len(run.Value), cap(run.Value))
					}
				}
			case TypeNote:
				_, err = DecodeNote(payload, &n)
			}
			must(t, err)
		}
	}
	if len(r.Runs) != 0 || cap(r.Runs) < 4 {
		t.Errorf("%d runs, room for %d", len(r.Runs), cap(r.Runs))
	}
	r.Runs = nil
	if !reflect.DeepEqual([]any{q, r, n, h, w}, []any{wor.Request{}, wor.Reply{}, wor.Note{}, Hello{}, Welcome{}}) {
		t.Errorf("something is left: %+v, %+v, %+v, %+v, %+v", q, r, n, h, w)
	}
}
