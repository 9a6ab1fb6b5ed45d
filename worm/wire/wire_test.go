package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// word is a frame's content, of any type.
type word struct {
	typ      Type
	id, pos  uint64
	budget   time.Duration
	request  wor.Request
	reply    wor.Reply
	note     wor.Note
	hello    Hello
	welcome  Welcome
	service  wor.Service
	code     Code
	payload  []byte
	position uint64
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
	case 1: // of a few, so that neighbours have the same
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
		return w
	case TypeWelcome:
		w.welcome = Welcome{Version: uint16(number(t, "version", 16)), Refusal: Refusal(number(t, "refusal", 8)),
			Cluster: number(t, "cluster", 64), Server: wor.ServerID(number(t, "server", 64)),
			Generation: number(t, "generation", 64), Position: number(t, "position", 64), Text: string(drawBytes(t, "text"))}
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

// TestRoundTrip: what is encoded, many frames to a piece, comes out of the
// Scanner in pieces of any length as it was.
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

// TestGolden: the bytes of a frame of each type are those in testdata. They
// must not change within a version; ASHLAR_GOLDEN=1 writes them for a new one.
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

// frameOf seals a payload as a frame.
func frameOf(t Type, payload []byte) []byte {
	var e Encoder
	e.begin(t)
	e.buf = append(e.buf, payload...)
	e.seal()
	return e.Bytes()
}

// TestEveryByteCounts: a frame that is damaged anywhere is refused, or waited
// for where the damage says that it is longer.
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

// TestEveryLengthCounts: a payload that ends too early, or too late, is refused;
// but those that end with bytes to their end have no end of their own.
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
			var bad *FrameError
			if want := n < len(payload)-open; want != errors.As(err, &bad) {
				t.Errorf("%v: %d bytes of %d: %v", w.typ, n, len(payload), err)
			}
		}
		if _, err := decode(Frame{w.typ, append(bytes.Clone(payload), 0)}); (err == nil) != (open > 0) {
			t.Errorf("%v: a byte more: %v", w.typ, err)
		}
	}
}

// TestScannerRefuses: what is no frame is refused as soon as that can be told,
// and for good.
func TestScannerRefuses(t *testing.T) {
	head := func(n uint32, version, typ byte) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, n), version, typ)
	}
	for name, c := range map[string]struct {
		b    []byte
		max  int
		want string
	}{
		"too short":       {head(5, Version, 1), 0, "bad frame: too short"},
		"no length":       {head(0, Version, 1), 0, "bad frame: too short"},
		"too long":        {head(FrameMax-3, Version, 1), 0, "bad frame: 8388609 bytes, limit is 8388608"},
		"longest":         {head(1<<32-1, Version, 1), 0, "bad frame: 4294967299 bytes, limit is 8388608"},
		"own limit":       {head(100, Version, 1), 103, "bad frame: 104 bytes, limit is 103"},
		"absurd limit":    {head(FrameMax, Version, 1), 1 << 40, "bad frame: 8388612 bytes, limit is 8388608"},
		"other version":   {head(100, Version+1, 1), 0, "frame of version 2, known is 1"},
		"version 0":       {head(100, 0, 1), 0, "frame of version 0, known is 1"},
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

// TestNothingIsBelieved: a length costs no memory before its bytes are there, and
// the memory of a long frame is given back.
func TestNothingIsBelieved(t *testing.T) {
	long := frameOf(TypeAnswer, make([]byte, 9+1<<20))
	var s Scanner
	for i := 0; i < len(long); i += 1000 {
		s.Feed(bytes.Clone(long[i:min(i+1000, len(long))]))
		_, ok, err := s.Next()
		must(t, err)
		if have := min(i+1000, len(long)); !ok && cap(s.rest) > 2*have+1000 {
			t.Fatalf("%d bytes have come, and %d are taken for them", have, cap(s.rest))
		}
	}
	if _, ok, err := s.Next(); ok || err != nil || cap(s.rest) > keepMax {
		t.Errorf("afterwards: %v, %v, %d bytes", ok, err, cap(s.rest))
	}
	var r wor.Reply
	count := append(make([]byte, 9), 0, replyRuns, 0)
	if _, _, err := DecodeReply(append(count, 0xff, 0xff, 0x03, 1), &r); err == nil || cap(r.Runs) > 0 {
		t.Errorf("65535 runs in a byte: %v, room for %d", err, cap(r.Runs))
	}
}

// TestOneWayToSayIt: what could be said in a second way is refused that way.
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
		"hello's flags":      {TypeHello, cat([]byte{1, 0, 2}, id, id, id, id, id)},
		"long text":          {TypeWelcome, cat([]byte{1, 0, 0}, id, id, id, id, make([]byte, TextMax+1))},
		"long payload":       {TypeInvoke, cat(id, []byte{0, 0, 0}, make([]byte, PayloadMax+1))},
		"long answer":        {TypeAnswer, cat(id, []byte{0}, make([]byte, PayloadMax+1))},
	} {
		_, err := decode(f)
		var bad *FrameError
		if !errors.As(err, &bad) || bad.Type != f.Type {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLaterHellos: who speaks a later version too is understood.
func TestLaterHellos(t *testing.T) {
	var e Encoder
	e.Hello(&Hello{Version: Version + 1, Cluster: 5})
	payload := append(bytes.Clone(e.Bytes()[headLen:e.Len()-tailLen]), "what comes then"...)
	payload[2] = 0xff
	var h Hello
	must(t, DecodeHello(payload, &h))
	if h.Version != Version+1 || h.Cluster != 5 || !h.Peer {
		t.Errorf("got %+v", h)
	}
}

// TestLimits: what has no room in a frame is not encoded, and leaves nothing; all
// that keeps to the limits has room.
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

// TestBudgets: what is left of a budget is never none, which would be no bound.
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

// TestRunsAreShort: of a captured range a run takes few bytes.
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

// TestOursAreFound: a reply that nobody would accept is our mistake.
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

// FuzzDecode: no payload of any type does harm, and one that is accepted is
// encoded as it came.
func FuzzDecode(f *testing.F) {
	for _, w := range examples() {
		var e Encoder
		must(f, w.encode(&e))
		f.Add(byte(w.typ), e.Bytes()[headLen:e.Len()-tailLen])
	}
	f.Fuzz(func(t *testing.T, typ byte, payload []byte) {
		w, err := decode(Frame{Type(typ), payload})
		if err != nil || !Type(typ).valid() || w.hello.Version > Version {
			return
		}
		var e Encoder
		must(t, w.encode(&e))
		if got := e.Bytes()[headLen : e.Len()-tailLen]; !bytes.Equal(got, payload) {
			t.Errorf("%x is accepted and encoded as %x", payload, got)
		}
	})
}

// FuzzScanner: no stream does harm, in whatever pieces it comes, and the pieces
// make no difference.
func FuzzScanner(f *testing.F) {
	var e Encoder
	for _, w := range examples() {
		must(f, w.encode(&e))
	}
	f.Add(e.Bytes(), uint16(7), false)
	f.Add(e.Bytes(), uint16(64), true)
	f.Fuzz(func(t *testing.T, stream []byte, piece uint16, mend bool) {
		if mend && len(stream) >= frameMin { // so that some get past the checksum
			binary.LittleEndian.PutUint32(stream, uint32(len(stream)-lengthLen))
			binary.LittleEndian.PutUint32(stream[len(stream)-tailLen:], checksum(stream[:len(stream)-tailLen]))
		}
		scan := func(piece int) (out []byte, last error) {
			var s Scanner
			for b := bytes.Clone(stream); len(b) > 0 && last == nil; {
				n := min(piece, len(b))
				s.Feed(b[:n])
				b = b[n:]
				for {
					f, ok, err := s.Next()
					if last = err; !ok {
						break
					}
					out = append(append(out, byte(f.Type)), f.Payload...)
					_, _ = decode(f)
				}
			}
			return out, last
		}
		whole, err1 := scan(len(stream))
		parts, err2 := scan(int(piece)%100 + 1)
		if !bytes.Equal(whole, parts) || (err1 == nil) != (err2 == nil) {
			t.Errorf("as a whole: %x, %v; in pieces: %x, %v", whole, err1, parts, err2)
		}
	})
}

// TestReuse: what is decoded into has nothing of what it had before, and a value
// has no room behind it that is somebody else's.
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
