// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/link"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// frameOf makes a frame with the payload.
func frameOf(t Type, payload []byte) []byte {
	var e Encoder
	e.begin(t)
	e.buf = append(e.buf, payload...)
	e.seal()
	return e.Bytes()
}

// TestEveryByteCounts: a frame that is damaged anywhere is refused; if the damaged length
// is greater, the Scanner waits for more bytes.
func TestEveryByteCounts(t *testing.T) {
	for _, w := range examples() {
		var e Encoder
		must(t, w.encode(&e))
		for at := range e.Bytes() {
			for bit := range 8 {
				b := bytes.Clone(e.Bytes())
				b[at] ^= 1 << bit
				var s Scanner
				s.Feed(b)
				if f, ok, _ := s.Next(); ok {
					t.Fatalf("%v: bit %d of byte %d is flipped, and it is taken for %v", w.typ, bit, at, f.Type)
				}
			}
		}
	}
}

// TestEveryLengthCounts: a payload that is too short or too long is refused, except if
// its last field extends to the end of the payload.
func TestEveryLengthCounts(t *testing.T) {
	for _, w := range examples() {
		var e Encoder
		must(t, w.encode(&e))
		payload := e.Bytes()[headLen : e.Len()-tailLen]
		open := 0
		switch w.typ {
		case TypeWelcome:
			open = len(w.welcome.Text)
		case TypeNote:
			open = len(w.note.Value)
		case TypeInvoke, TypeAnswer:
			open = len(w.payload)
		}
		for n := range payload {
			_, err := decode(Frame{w.typ, payload[:n]})
			var bad *link.FrameError
			if want := n < len(payload)-open; want != errors.As(err, &bad) {
				t.Errorf("%v: %d bytes of %d: %v", w.typ, n, len(payload), err)
			}
		}
		if _, err := decode(Frame{w.typ, append(bytes.Clone(payload), 0)}); (err == nil) != (open > 0) {
			t.Errorf("%v: a byte more: %v", w.typ, err)
		}
	}
}

// TestScannerRefuses: bytes that are not a frame are refused as soon as they can be
// recognized, and permanently.
func TestScannerRefuses(t *testing.T) {
	head := func(n uint32, version, typ byte) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, n), version, typ)
	}
	for name, c := range map[string]struct {
		b    []byte
		max  int
		want string
	}{
		"too short":       {head(5, Version, 1), 0, "bad frame: 9 bytes are too short for a frame"},
		"no length":       {head(0, Version, 1), 0, "bad frame: 4 bytes are too short for a frame"},
		"too long":        {head(FrameMax-3, Version, 1), 0, "bad frame: 8388609 bytes, limit is 8388608"},
		"longest":         {head(1<<32-1, Version, 1), 0, "bad frame: 4294967299 bytes, limit is 8388608"},
		"own limit":       {head(100, Version, 1), 103, "bad frame: 104 bytes, limit is 103"},
		"absurd limit":    {head(FrameMax, Version, 1), 1 << 40, "bad frame: 8388612 bytes, limit is 8388608"},
		"other version":   {head(100, Version+1, 1), 0, "bad frame: version 2; this program speaks version 1"},
		"version 0":       {head(100, 0, 1), 0, "bad frame: version 0; this program speaks version 1"},
		"unknown type":    {frameOf(Type(len(typeNames)), nil), 0, "bad frame: unknown type 10"},
		"type 0":          {frameOf(0, nil), 0, "bad frame: unknown type 0"},
		"wrong checksum":  {append(head(6, Version, byte(TypePing)), 1, 2, 3, 4), 0, "bad frame: wrong checksum"},
		"checksum is met": {frameOf(TypePing, make([]byte, 8)), 0, ""},
	} {
		for _, whole := range []bool{true, false} {
			s := Scanner{Max: c.max}
			var err error
			var ok bool
			if whole {
				s.Feed(c.b)
				_, ok, err = s.Next()
			} else {
				for i := range c.b {
					if s.Feed(c.b[i : i+1]); err == nil {
						_, ok, err = s.Next()
					}
				}
			}
			if got := ""; err != nil || c.want != "" || !ok {
				if err != nil {
					got = err.Error()
				}
				if got != c.want {
					t.Errorf("%s: %q, want %q", name, got, c.want)
				}
			}
			if _, ok, again := s.Next(); ok || again != err {
				t.Errorf("%s: then %v, want %v", name, again, err)
			}
		}
	}
}

// TestNothingIsBelieved: a count costs no memory before its bytes arrive. Package link
// has such a test for lengths.
func TestNothingIsBelieved(t *testing.T) {
	var r wor.Reply
	count := append(make([]byte, 9), 0, replyRuns, 0)
	if _, _, err := DecodeReply(append(count, 0xff, 0xff, 0x03, 1), &r); err == nil || cap(r.Runs) > 0 {
		t.Errorf("65535 runs in a byte: %v, room for %d", err, cap(r.Runs))
	}
}

// TestOneWayToSayIt: a second encoding of the same message is refused.
func TestOneWayToSayIt(t *testing.T) {
	id := make([]byte, 8)
	cat := func(parts ...[]byte) (b []byte) {
		for _, p := range parts {
			b = append(b, p...)
		}
		return b
	}
	reply := func(runs ...byte) []byte { return cat(id, []byte{0, 0, replyRuns, 0}, runs) }
	nonce := make([]byte, 8)
	for name, f := range map[string]Frame{
		"long number":        {TypeRequest, cat(id, []byte{0x80, 0, 1, 0, 0, 0, 0})},
		"65 bits":            {TypeRequest, cat(id, bytes.Repeat([]byte{0xff}, 10), []byte{1, 0, 0, 0, 0})},
		"epoch of 33 bits":   {TypeRequest, cat(id, []byte{0, 1, 0, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x10})},
		"unknown fields":     {TypeRequest, cat(id, []byte{0, 1, 0, requestEnd, 0, 0})},
		"zero flags":         {TypeRequest, cat(id, []byte{0, 1, 0, requestFlags, 0, 0, 0})},
		"zero range":         {TypeRequest, cat(id, []byte{0, 1, 0, requestRange, 0, 0, 0, 0, 0})},
		"zero ballot":        {TypeRequest, cat(id, []byte{0, 1, 0, requestBallot, 0, 0, 0}, nonce)},
		"empty value":        {TypeRequest, cat(id, []byte{0, 1, 0, requestValue, 0, 0, 0})},
		"zero tag":           {TypeRequest, cat(id, []byte{0, 1, 0, requestTag, 0, 0}, id)},
		"zero cursor":        {TypeRequest, cat(id, []byte{0, 1, 0, requestCursor, 0, 0, 0})},
		"zero digest":        {TypeRequest, cat(id, []byte{0, 1, 0, requestDigest, 0, 0}, id)},
		"large budget":       {TypeRequest, cat(id, bytes.Repeat([]byte{0xff}, 9), []byte{0x01, 1, 0, 0, 0, 0})},
		"unknown in a reply": {TypeReply, cat(id, []byte{0, 0, replyEnd, 0})},
		"no runs":            {TypeReply, reply(0)},
		"too many runs":      {TypeReply, reply(3, 0, 0)},
		"one is counted":     {TypeReply, reply(1, runCount, 1)},
		"none is counted":    {TypeReply, reply(1, runCount, 0)},
		"ok is said":         {TypeReply, reply(1, runStatus, 0)},
		"promised zero":      {TypeReply, reply(cat([]byte{1, runPromised, 0}, nonce)...)},
		"promised like none": {TypeReply, reply(1, runPromisedSame)},
		"promised twice":     {TypeReply, reply(cat([]byte{1, runPromised | runPromisedSame, 1}, nonce)...)},
		"promised again":     {TypeReply, reply(cat([]byte{2, runPromised, 1}, nonce, []byte{runPromised, 1}, nonce)...)},
		"accepted zero":      {TypeReply, reply(cat([]byte{1, runAccepted, 0}, nonce)...)},
		"accepted like none": {TypeReply, reply(1, runAcceptedSame)},
		"accepted again":     {TypeReply, reply(cat([]byte{1, runPromised | runAccepted, 1}, nonce, []byte{1}, nonce)...)},
		"accepted twice":     {TypeReply, reply(cat([]byte{1, runPromised | runAccepted | runAcceptedSame, 1}, nonce)...)},
		"empty run value":    {TypeReply, reply(1, runValue, 0)},
		"too many registers": {TypeReply, reply(2, runCount, 0x80, 0x80, 0x04, 0)},
		"zero reply digest":  {TypeReply, cat(id, []byte{0, 0, replyDigest, 0}, id)},
		"zero reply cursor":  {TypeReply, cat(id, []byte{0, 0, replyCursor, 0, 0})},
		"hello's flags":      {TypeHello, cat([]byte{1, 0, 4}, id, id, id, id, id)},
		"no challenge":       {TypeHello, cat([]byte{1, 0, 2}, id, id, id, id, id)},
		"half a challenge":   {TypeHello, cat([]byte{1, 0, 2}, id, id, id, id, id, id)},
		"an empty challenge": {TypeHello, cat([]byte{1, 0, 2}, id, id, id, id, id, make([]byte, 16))},
		"half a proof":       {TypeWelcome, cat([]byte{1, 0, 128}, id, id, id, id, make([]byte, 95))},
		"long text":          {TypeWelcome, cat([]byte{1, 0, 0}, id, id, id, id, make([]byte, TextMax+1))},
		"long payload":       {TypeInvoke, cat(id, []byte{0, 0, 0}, make([]byte, PayloadMax+1))},
		"long answer":        {TypeAnswer, cat(id, []byte{0}, make([]byte, PayloadMax+1))},
	} {
		_, err := decode(f)
		var bad *link.FrameError
		if !errors.As(err, &bad) || bad.What != f.Type.String() {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLaterHellos: a hello from a client that also speaks a later version is understood,
// with its challenge.
func TestLaterHellos(t *testing.T) {
	var e Encoder
	e.Hello(&Hello{Version: Version + 1, Cluster: 5, Challenge: Challenge{3}})
	payload := append(bytes.Clone(e.Bytes()[headLen:e.Len()-tailLen]), "what comes then"...)
	payload[2] = 0xff
	var h Hello
	must(t, DecodeHello(payload, &h))
	if h.Version != Version+1 || h.Cluster != 5 || !h.Peer || h.Challenge != (Challenge{3}) {
		t.Errorf("got %+v", h)
	}
}

// TestLimits: a message that does not fit into a frame is not encoded, and adds nothing;
// every message within the limits fits.
func TestLimits(t *testing.T) {
	var e Encoder
	e.Ping(1)
	n := e.Len()
	long := make([]byte, FrameMax)
	for name, err := range map[string]error{
		"request": e.Request(1, 0, &wor.Request{Value: long}), "reply": e.Reply(1, 0, &wor.Reply{Value: long}),
		"note": e.Note(1, &wor.Note{Value: long}), "invoke": e.Invoke(1, 0, 1, long[:PayloadMax+1]), "answer": e.Answer(1, 0, long[:PayloadMax+1]),
	} {
		if !errors.Is(err, wor.ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if e.Len() != n {
		t.Errorf("%d bytes, want %d", e.Len(), n)
	}
	must(t, e.Invoke(1, 0, 1, long[:PayloadMax]))
	must(t, e.Answer(1, 0, long[:PayloadMax]))
	e.Welcome(&Welcome{Text: string(long[:2*TextMax])})
	e.Truncate(n)
	if e.Len() != n {
		t.Errorf("%d bytes, want %d", e.Len(), n)
	}

	var r wor.Reply
	values := wor.ReplyMax + wor.ValueMax
	for i := range wor.RangeMax {
		size := min(values, wor.ReplyMax/wor.RangeMax)
		if i == wor.RangeMax-1 {
			size = values
		}
		values -= size
		r.Runs = append(r.Runs, wor.Run{Count: 1, Status: 255, Promised: wor.Ballot{Round: 1 << 63, Nonce: uint64(i)},
			Written: true, Accepted: wor.Ballot{Round: 1<<63 + 1, Nonce: 1}, Value: long[:size]})
	}
	e.Reset(0)
	must(t, e.Reply(1, 1<<63, &r))
	var s Scanner
	s.Feed(e.Bytes())
	f, ok, err := s.Next()
	if !ok {
		t.Fatal(err)
	}
	var got wor.Reply
	if _, _, err := DecodeReply(f.Payload, &got); err != nil || !reflect.DeepEqual(got, r) {
		t.Errorf("the longest reply is not the same again: %v", err)
	}

	e.Reset(0)
	e.Welcome(&Welcome{Text: strings.Repeat("x", TextMax)})
	s = Scanner{Max: HelloMax}
	s.Feed(e.Bytes())
	if _, ok, err := s.Next(); !ok {
		t.Errorf("the longest welcome: %v", err)
	}
}

// TestBudgets: the rest of a budget is never 0, which would mean no bound.
func TestBudgets(t *testing.T) {
	for _, c := range []struct{ in, out time.Duration }{
		{0, 0}, {-1, time.Microsecond}, {1, time.Microsecond}, {1000, time.Microsecond}, {1001, 2 * time.Microsecond},
		{1<<63 - 1, (1<<63 - 1) / 1000 * 1000},
	} {
		var e Encoder
		must(t, e.Request(1, c.in, &wor.Request{Kind: wor.KindRead}))
		var q wor.Request
		if _, got, err := DecodeRequest(e.Bytes()[headLen:e.Len()-tailLen], &q); err != nil || got != c.out {
			t.Errorf("%v: %v, %v; want %v", c.in, got, err, c.out)
		}
	}
}

// TestRunsAreShort: a run of a captured range takes few bytes.
func TestRunsAreShort(t *testing.T) {
	b := wor.Ballot{Round: 5, Nonce: 1 << 60}
	var one, many wor.Reply
	for i := range 101 {
		r := wor.Run{Count: 1, Promised: b, Written: true, Accepted: b, Value: []byte{byte(i)}}
		many.Runs = append(many.Runs, r)
	}
	one.Runs = many.Runs[:1]
	var e, f Encoder
	must(t, e.Reply(1, 1, &one))
	must(t, f.Reply(1, 1, &many))
	if n := f.Len() - e.Len(); n != 300 {
		t.Errorf("100 runs more take %d bytes, want 300", n)
	}
}

// TestOursAreFound: a reply that no client would accept is our mistake.
func TestOursAreFound(t *testing.T) {
	for name, r := range map[string]*wor.Reply{
		"a run of none":      {Runs: []wor.Run{{}}},
		"too many registers": {Runs: []wor.Run{{Count: wor.RangeMax}, {Count: 1, Status: 1}}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: nothing happens", name)
				}
			}()
			new(Encoder).Reply(1, 1, r)
		}()
	}
}

// TestFeedBeforeTheEnd: bytes that are fed too early are not lost.
func TestFeedBeforeTheEnd(t *testing.T) {
	var e Encoder
	e.Ping(1)
	e.Ping(2)
	var s Scanner
	s.Feed(e.Bytes()[:e.Len()-3])
	if _, ok, err := s.Next(); !ok {
		t.Fatal(err)
	}
	s.Feed(e.Bytes()[e.Len()-3:])
	f, ok, err := s.Next()
	if !ok {
		t.Fatal(err)
	}
	if token, err := DecodePing(f.Payload); err != nil || token != 2 {
		t.Errorf("%d, %v", token, err)
	}
}
