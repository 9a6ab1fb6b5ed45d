// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/host"
	"github.com/ashlar-dev/ashlar/dedalus/rt/internal/raw"
	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
)

// echo sends each input to the client that it names, so many times so many bytes.
type echo struct {
	near
	times, bytes int
	tick         func()
	resend       func()
}

func (e *echo) Tick(out *rt.Out) {
	for _, name := range e.in {
		for i := range e.times {
			row := append([]byte(fmt.Sprint(i)), make([]byte, e.bytes)...)
			out.Sent = append(out.Sent, rt.Sent{To: string(name), Relation: relOut, Row: row})
		}
	}
	if e.in = nil; e.tick != nil {
		e.tick()
	}
	e.near.Tick(out)
}
func (e *echo) Resend(*rt.Out) {
	if e.resend != nil {
		e.resend()
	}
}

// TestBatchesOfNothing: batches that are next to nothing count against the window as
// frames, so that their number is bounded while no tick takes any.
func TestBatchesOfNothing(t *testing.T) {
	for name, messages := range map[string][]byte{"empty": nil, "of nothing": wire.AppendMessage(nil, relIn, nil)} {
		s := newStand(t, nil, func(o *host.Options) { o.ClientWindow = 1000 })
		c := s.client("c", 1)
		n := 0
		for seq := uint64(1); !c.closing && n < 1000 && c.refusal() == 0; seq++ {
			c.say(batchOf(seq, messages), 0)
			n++
		}
		if most := 1000/wire.BatchBytes(8+len(messages)) + 1; n != most || c.refusal() != raw.RefusalMessage {
			t.Errorf("%s: refused (%d) after %d batches, want %d", name, c.refusal(), n, most)
		}
	}
}

// TestInputsOfMany: what clients have sent that no tick has taken is bounded for all of
// them together, whatever they are called; and is taken off when a tick took it.
func TestInputsOfMany(t *testing.T) {
	s := newStand(t, nil, func(o *host.Options) { o.ClientsMax, o.InputsMax = 2, 100_000 })
	send := func(i int) *standConn {
		c := s.client(fmt.Sprint("c", i), 1)
		c.say(batchOf(1, wire.AppendMessage(nil, relIn, make([]byte, 9000))), 0)
		return c
	}
	full := 0
	for i := range 100 {
		if c := send(i); c.refusal() == raw.RefusalFull {
			full++
			c.hangUp(errors.New("refused"))
		} else {
			c.hangUp(errors.New("gone, and back under another name"))
		}
		if n := s.h.Status().Inputs; n > 100_000 {
			t.Fatalf("%d bytes wait", n)
		}
	}
	if full != 89 {
		t.Errorf("%d of 100 batches were refused, want 89", full)
	}
	s.run()
	if st := s.h.Status(); st.Inputs != 0 || st.Counts.Delivered != 11 {
		t.Errorf("%d bytes wait after a tick, %d were delivered", st.Inputs, st.Counts.Delivered)
	}
	if c := send(200); c.refusal() != 0 {
		t.Errorf("refused when there is room: %v", c.refusal())
	}
}

// TestLongFramesInPart: frames that have come in part are bounded for all clients
// together, but for short ones, and what was ended or has left no longer counts.
func TestLongFramesInPart(t *testing.T) {
	s := newStand(t, nil, func(o *host.Options) { o.PartialsMax = wire.FrameMax })
	long := batchOf(1, wire.AppendMessage(nil, relIn, make([]byte, 5*wire.FrameMax/16)))
	var conns []*standConn
	ended := 0
	for i := range 20 {
		c := s.client(fmt.Sprint("c", i), 1)
		c.say(long[:len(long)-1], 100_000)
		conns = append(conns, c)
	}
	for _, c := range conns {
		if c.closing {
			ended++
		}
	}
	if ended != 17 {
		t.Errorf("%d of 20 were ended, want 17", ended)
	}
	well := s.client("well", 1)
	well.say(batchOf(1, wire.AppendMessage(nil, relIn, make([]byte, 60<<10))), 1000) // in pieces, but short
	if well.refusal() != 0 {
		t.Errorf("a short frame was refused: %v", well.refusal())
	}
	for _, c := range conns {
		c.hangUp(errors.New("gone"))
	}
	again := s.client("again", 1)
	again.say(long, 100_000)
	s.run()
	if n := s.h.Status().Counts.Delivered; again.refusal() != 0 || n != 2 {
		t.Errorf("%d inputs were taken, want 2; %v", n, again.refusal())
	}
}

// TestSlowFrames: a stranger that sends a byte now and then is heard, and must still end a frame in
// a time.
func TestSlowFrames(t *testing.T) {
	s := newStand(t, nil, nil)
	c, well := s.client("slow", 1), s.client("well", 1)
	frame := batchOf(1, wire.AppendMessage(nil, relIn, make([]byte, 1000)))
	at := 0
	for ; at < len(frame)-1 && !c.closed; at++ {
		c.say(frame[at:at+1], 0)
		well.say(raw.AppendPing(nil, false), 0)
		s.pass(time.Second)
	}
	if at < 29 || at > 32 {
		t.Errorf("closed after %d s, want about 30", at)
	}
	if well.closing {
		t.Error("a client that asks whether it is heard was closed, too")
	}
	// Many frames one after the other, each cut in the middle, are no slow frame.
	two := append(batchOf(1, wire.AppendMessage(nil, relIn, []byte("x"))), batchOf(2, wire.AppendMessage(nil, relIn, []byte("y")))...)
	cut := len(two) * 3 / 4
	well.say(two[:cut], 0)
	for i := range 100 {
		s.pass(time.Second)
		next := append(two[cut:len(two):len(two)], batchOf(uint64(i+3), wire.AppendMessage(nil, relIn, []byte("z")))...)
		two, cut = next, len(next)*3/4
		well.say(two[:cut], 0)
		s.run()
	}
	if well.closing {
		t.Error("a client whose frames end was closed")
	}
}

// TestSilentConnections: thousands that connect and say nothing do not keep out a client that
// says at once who it is, and are gone when their time is over.
func TestSilentConnections(t *testing.T) {
	s := newStand(t, nil, func(o *host.Options) { o.ConnsMax = 100 })
	c := s.client("c", 1)
	for i := range 5000 {
		if s.connect() == nil && i < 100 {
			t.Fatal("turned away when there is room")
		}
		if n := s.h.Status().Conns; n > 125 {
			t.Fatalf("%d connections", n)
		}
		if i%10 == 9 {
			s.pass(time.Millisecond) // those that were ended are told
		}
	}
	far := s.instance(nil, 5)
	if err := s.answers(c, far, 1); err != nil {
		t.Error(err)
	}
	s.pass(2 * host.HelloWithinDefault)
	if n := s.h.Status().Conns; n > 2 {
		t.Errorf("%d connections, want those of c and far/0 at most", n)
	}
}

// TestNamesMadeUp: outputs for clients that there are not keep a bounded number of
// names, and take nothing from clients that there are.
func TestNamesMadeUp(t *testing.T) {
	s := newStand(t, &echo{times: 1, bytes: 1000}, func(o *host.Options) { o.ClientsMax, o.ClientWindow = 10, 1<<20 })
	c := s.client("c", 1)
	var names []byte
	for i := range 1000 {
		names = wire.AppendMessage(names, relIn, fmt.Appendf(nil, "made up %d", i))
	}
	names = wire.AppendMessage(names, relIn, []byte("c"))
	c.say(batchOf(1, names), 0)
	s.run()
	st := s.h.Status()
	if st.Counts.Unclaimed != 995 || st.Counts.Sent != 6 {
		t.Errorf("%d outputs are unclaimed and %d sent, want 995 and 6", st.Counts.Unclaimed, st.Counts.Sent)
	}
	for i := range 9 { // there is room for nine more, which come
		s.client(fmt.Sprint("d", i), 1)
	}
	if n := s.h.Status().Clients; n != 10 {
		t.Errorf("%d clients, want 10", n)
	}
}

// TestSlowReaders: what waits for clients that read nothing is bounded for all of them
// together, and a client that reads is served meanwhile.
func TestSlowReaders(t *testing.T) {
	s := newStand(t, &echo{times: 100, bytes: 1000}, func(o *host.Options) { o.OutputsMax = 1 << 20 })
	c := s.client("c", 1)
	var asks []byte
	for i := range 50 {
		r := s.client(fmt.Sprint("r", i), 1)
		r.full = true
		asks = wire.AppendMessage(asks, relIn, fmt.Appendf(nil, "r%d", i))
	}
	for seq := range uint64(20) {
		c.say(batchOf(seq+1, asks), 0)
		s.run()
		if n := s.h.Status().ClientsQueued; n > 1<<20+50*(65<<10) {
			t.Fatalf("%d bytes wait", n)
		}
	}
	if s.h.Status().Counts.Dropped == 0 {
		t.Error("nothing was dropped")
	}
	if err := s.answers(c, s.instance(nil, 5), 1); err != nil {
		t.Error(err)
	}
	s.pass(20 * host.DeadAfterDefault) // none of them has said anything
	if st := s.h.Status(); st.ClientsQueued != 0 || st.Clients != 0 {
		t.Errorf("%d bytes wait for %d clients", st.ClientsQueued, st.Clients)
	}
}

// TestNewLives: a client that begins one life after the other has all that holds looked
// through, which may take long, for a tenth of the time at most.
func TestNewLives(t *testing.T) {
	var s *stand
	spent := time.Duration(0)
	e := &echo{resend: func() { s.now = s.now.Add(time.Second); spent += time.Second }}
	s = newStand(t, e, func(o *host.Options) { o.ConnsMax, o.ClientsMax = 1<<20, 1<<10 })
	begin := s.now
	for life := uint64(1); s.now.Sub(begin) < 200*time.Second; life++ {
		c := s.client(fmt.Sprint("c", life%7), life)
		s.pass(10 * time.Millisecond)
		c.hangUp(errors.New("gone"))
	}
	if spent < 15*time.Second || spent > 21*time.Second {
		t.Errorf("%v of 200 s were spent on looking", spent)
	}
}

// TestWrongMessages: a batch of wrong messages is left at the first one, a batch of more
// than a tick may have is no batch, and lengths and numbers as great as can be said are
// no memory and no overflow.
func TestWrongMessages(t *testing.T) {
	many := func(n int) (b []byte) {
		for range n {
			b = wire.AppendMessage(b, relOut, nil)
		}
		return b
	}
	huge := func(relation, length uint64) []byte {
		return binary.AppendUvarint(binary.AppendUvarint(nil, relation), length)
	}
	for i, c := range []struct {
		name string
		say  []byte
		code raw.RefusalCode
		text string
	}{
		{"wrong ones", batchOf(1, many(60_000)), raw.RefusalMessage, "this sender may not send out"},
		{"too many", batchOf(1, many(wire.MessagesMax+1)), raw.RefusalMessage, "more than 65536 messages"},
		{"a relation of 2^63", batchOf(1, huge(1<<63, 0)), raw.RefusalMessage, "malformed message"},
		{"a length of 2^31", batchOf(1, huge(relIn, 1<<31)), raw.RefusalMessage, "malformed message"},
		{"a length of 2^63", batchOf(1, huge(relIn, 1<<63)), raw.RefusalMessage, "malformed message"},
		{"a length of 2^64-1", batchOf(1, huge(relIn, 1<<64-1)), raw.RefusalMessage, "malformed message"},
		{"a number without end", batchOf(1, []byte(strings.Repeat("\xff", 20))), raw.RefusalMessage, "malformed message"},
		{"a batch of no number", batchOf(0, nil), raw.RefusalMessage, "the batch has no number"},
		{"a gap", append(batchOf(1, nil), batchOf(3, nil)...), raw.RefusalMessage, "batch 3 after batch 1"},
		{"the last number, and on", append(batchOf(1<<64-1, nil), batchOf(1, nil)...), 0, ""},
		{"an ack of all", wire.AppendAck(nil, 1<<64-1), raw.RefusalMessage, "acknowledges batch 18446744073709551615"},
		{"an ack that is cut off", frameOf(raw.TypeAck, []byte{1}), raw.RefusalMessage, "1 bytes"},
		{"a frame of 2^31", []byte{0, 0, 0, 0x80, 5}, raw.RefusalMessage, "limit is"},
		{"a frame of 2^32-1", []byte{255, 255, 255, 255, 5}, raw.RefusalMessage, "limit is"},
		{"a frame of nothing", []byte{0, 0, 0, 0, 5, 0, 0, 0, 0}, raw.RefusalMessage, "too short for a frame"},
		{"an unknown type", frameOf(77, nil), raw.RefusalMessage, "unknown type"},
		{"what only instances say", raw.AppendProof(nil, raw.Proof{}), raw.RefusalMessage, "proof frame"},
		{"what only hosts say", raw.AppendWelcome(nil, &raw.Welcome{}), raw.RefusalMessage, "welcome frame"},
	} {
		s := newStand(t, nil, nil)
		for _, piece := range []int{0, 1, 7} {
			before := s.h.Status().Counts.Rejected
			k := s.client(c.name, uint64(i+1+100*piece))
			n := piece
			if len(c.say) > 10_000 {
				n *= 1000
			}
			k.say(c.say, n)
			s.run()
			if st := s.h.Status(); k.refusal() != c.code || c.code != 0 && !strings.Contains(st.Trouble, c.text) || st.Counts.Rejected > before+1 {
				t.Errorf("%s, by %d: %v, %q, %d rejected", c.name, piece, k.refusal(), st.Trouble, st.Counts.Rejected-before)
			}
		}
	}
}

// TestReplayedInstance: what an instance has said with the key is of no use to
// another sender, on another connection or towards the instance that said it.
func TestReplayedInstance(t *testing.T) {
	key := []byte("what instances know")
	s := newStand(t, nil, func(o *host.Options) { o.Key = key })
	// A proper connection, of which everything was overheard.
	h := asClient("far/0")
	h.Role, h.Life, h.Keyed = raw.Instance, 5, true
	proper := s.connect()
	proper.say(raw.AppendHello(nil, &h), 0)
	f, _ := proper.last(raw.TypeWelcome)
	w, err := raw.DecodeWelcome(f.Payload)
	if err != nil || w.Proof.Same(raw.Proof{}) {
		t.Fatal(err, w.Proof)
	}
	said := append(raw.AppendProof(nil, raw.Prove(key, true, &h, &w)), batchOf(1, wire.AppendMessage(nil, relBack, []byte("x")))...)
	proper.say(said, 0)
	s.run()
	if n := s.h.Status().Counts.Delivered; n != 1 {
		t.Fatalf("%d were delivered", n)
	}
	again := s.connect()
	again.say(append(raw.AppendHello(nil, &h), said...), 0)
	s.run()
	if n := s.h.Status().Counts.Delivered; again.refusal() != raw.RefusalKey || n != 1 {
		t.Errorf("replayed: %v, %d were delivered", again.refusal(), n)
	}
	// The host's own proof, given back to it when it dials.
	c := s.client("c", 1)
	c.say(batchOf(1, wire.AppendMessage(nil, relIn, []byte("on"))), 0)
	s.run()
	if len(s.dialled) != 1 {
		t.Fatalf("%d dialled", len(s.dialled))
	}
	d := s.dialled[0]
	d.h.Opened(d)
	for _, proof := range []raw.Proof{{}, w.Proof, raw.Prove([]byte("another"), false, &h, &w)} {
		back := raw.Welcome{Life: 9, Node: "far/0", Window: 1 << 20, Nonce: w.Nonce, Proof: proof}
		d.say(raw.AppendWelcome(nil, &back), 0)
		if _, ok := d.last(raw.TypeProof); ok || !d.closing {
			t.Error("it believes who has not the key")
		}
		s.pass(5 * time.Second)
		d = s.dialled[len(s.dialled)-1]
		d.h.Opened(d)
	}
}

// TestWelcomeAndHangUp: an instance that welcomes and hangs up, each time in a new life,
// is not dialled all the time.
func TestWelcomeAndHangUp(t *testing.T) {
	s := newStand(t, nil, nil)
	c := s.client("c", 1)
	c.say(batchOf(1, wire.AppendMessage(nil, relIn, []byte("on"))), 0)
	s.run()
	at := 0
	for range 6000 {
		for ; at < len(s.dialled); at++ {
			d := s.dialled[at]
			d.h.Opened(d)
			d.say(raw.AppendWelcome(nil, &raw.Welcome{Life: uint64(at + 1), Node: "far/0", Window: 1 << 20}), 0)
			d.hangUp(errors.New("hung up"))
		}
		s.pass(10 * time.Millisecond)
	}
	if at < 10 || at > 100 {
		t.Errorf("dialled %d times in a minute", at)
	}
}

// TestIncarnationsMadeUp: a number that no process gets to by starting anew ends no process.
func TestIncarnationsMadeUp(t *testing.T) {
	s := newStand(t, nil, func(o *host.Options) { o.Pieces, o.Incarnation = []string{"far/0"}, 4 })
	for i, n := range []uint64{host.IncarnationMax + 1, 1<<64 - 1} {
		h := asClient("far/0")
		h.Role, h.Life, h.Incarnation = raw.Instance, uint64(i+1), n
		c := s.connect()
		c.say(raw.AppendHello(nil, &h), 0)
		s.pass(time.Second)
		if c.refusal() != raw.RefusalOld || s.ended != nil {
			t.Errorf("%d: %v; ended: %v", n, c.refusal(), s.ended)
		}
	}
}

// sayings are what an attacker may say, right or wrong.
func sayings() *rapid.Generator[[]byte] {
	number := rapid.OneOf(rapid.Uint64Range(0, 4), rapid.SampledFrom([]uint64{1 << 31, 1<<32 - 1, 1 << 62, 1 << 63, 1<<64 - 1}))
	name := rapid.SampledFrom([]string{"c", "far/0", "near/0", "far/1", "", "well", "\x00\xff", strings.Repeat("n", 255)})
	row := rapid.SliceOfN(rapid.Byte(), 0, 40)
	return rapid.Custom(func(t *rapid.T) []byte {
		var b []byte
		switch rapid.IntRange(0, 8).Draw(t, "what") {
		case 0:
			h := raw.Hello{Version: uint16(rapid.IntRange(0, 2).Draw(t, "version")), Role: byte(rapid.IntRange(0, 2).Draw(t, "role")),
				Program: rapid.SampledFrom([]uint64{7, 8}).Draw(t, "program"), Life: number.Draw(t, "life"), Window: uint32(number.Draw(t, "window")),
				Seen: number.Draw(t, "seen"), Last: number.Draw(t, "last"), Incarnation: number.Draw(t, "incarnation"),
				From: name.Draw(t, "from"), To: name.Draw(t, "to")}
			b = raw.AppendHello(nil, &h)
		case 1: // one that is let in
			h := asClient(rapid.SampledFrom([]string{"c", "d"}).Draw(t, "name"))
			h.Life = number.Draw(t, "life")
			b = raw.AppendHello(nil, &h)
		case 2:
			h := asClient("far/0")
			h.Role, h.Life = raw.Instance, number.Draw(t, "life")
			b = raw.AppendHello(nil, &h)
		case 3, 4:
			var m []byte
			for range rapid.IntRange(0, 4).Draw(t, "messages") {
				m = wire.AppendMessage(m, rapid.SampledFrom([]int{relIn, relIn, relBack, relOut, 9}).Draw(t, "relation"), row.Draw(t, "row"))
			}
			b = batchOf(number.Draw(t, "seq"), m)
		case 5:
			b = wire.AppendAck(nil, number.Draw(t, "ack"))
		case 6:
			b = frameOf(raw.Type(rapid.IntRange(0, 10).Draw(t, "type")), row.Draw(t, "payload"))
		case 7:
			b = rapid.SliceOfN(rapid.Byte(), 1, 60).Draw(t, "noise")
		case 8:
			b = raw.AppendPing(nil, rapid.Bool().Draw(t, "pong"))
		}
		if rapid.IntRange(0, 9).Draw(t, "damage") == 0 && len(b) > 0 {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "where")] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		}
		return b
	})
}

// TestAnythingSaid: whatever is said by many, in pieces, with time passing, ticks or
// none, and connections that come and go: a client that keeps to the rules is served afterwards,
// and nothing is kept of the others beyond its limits.
func TestAnythingSaid(t *testing.T) {
	what := sayings()
	rapid.Check(t, func(t *rapid.T) {
		s := newStand(t, nil, func(o *host.Options) {
			o.ClientsMax, o.ConnsMax, o.ClientWindow, o.InputsMax, o.Window = 4, 8, 200, 500, 400
		})
		var conns []*standConn
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch k := rapid.IntRange(0, 9).Draw(t, "step"); {
			case k == 0 || len(conns) == 0:
				if c := s.connect(); c != nil {
					conns = append(conns, c)
				}
			case k == 1:
				c := conns[rapid.IntRange(0, len(conns)-1).Draw(t, "conn")]
				c.hangUp(errors.New("gone"))
			case k == 2:
				s.pass(time.Duration(rapid.IntRange(1, 5000).Draw(t, "ms")) * time.Millisecond)
			case k == 3:
				s.run()
			case k == 4:
				c := conns[rapid.IntRange(0, len(conns)-1).Draw(t, "conn")]
				if c.full = !c.full; !c.full && !c.closing {
					c.h.Drained(c)
				}
			default:
				c := conns[rapid.IntRange(0, len(conns)-1).Draw(t, "conn")]
				c.say(what.Draw(t, "say"), rapid.IntRange(0, 5).Draw(t, "piece"))
			}
			if st := s.h.Status(); st.Conns > 10 || st.Clients > 4 || st.Inputs > 500+300 || st.Inbox > 2000 {
				t.Fatalf("%+v", st)
			}
		}
		for _, c := range conns {
			c.hangUp(errors.New("gone"))
		}
		s.run()
		s.pass(time.Second)
		if st := s.h.Status(); st.Inputs != 0 || st.Conns != 0 || st.Failed != nil {
			t.Fatalf("%+v", st)
		}
		if err := s.answers(s.client("c", 1<<40), s.instance(nil, 1<<41), 1); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzSaid is the same for bytes: on a connection of a stranger, of a client, of an
// instance, and on one that the instance has dialled.
func FuzzSaid(f *testing.F) {
	hello := asClient("c")
	f.Add(uint8(0), raw.AppendHello(nil, &hello), uint8(0))
	f.Add(uint8(1), batchOf(1, wire.AppendMessage(nil, relIn, []byte("x"))), uint8(3))
	f.Add(uint8(2), batchOf(1, wire.AppendMessage(nil, relBack, []byte("x"))), uint8(1))
	f.Add(uint8(3), raw.AppendWelcome(nil, &raw.Welcome{Life: 3, Node: "far/0", Window: 100}), uint8(0))
	f.Add(uint8(3), append(raw.AppendWelcome(nil, &raw.Welcome{Life: 3, Node: "far/0", Window: 100}), wire.AppendAck(nil, 1)...), uint8(0))
	f.Add(uint8(3), raw.AppendRefusal(nil, &raw.Refusal{Code: 3, Text: "no"}), uint8(2))
	f.Fuzz(func(t *testing.T, where uint8, said []byte, piece uint8) {
		s := newStand(t, nil, nil)
		var c *standConn
		switch where % 4 {
		case 0:
			c = s.connect()
		case 1:
			c = s.client("attacker", 1)
		case 2:
			c = s.instance(nil, 1)
		case 3:
			in := s.client("attacker", 1)
			in.say(batchOf(1, wire.AppendMessage(nil, relIn, []byte("on"))), 0)
			s.run()
			c = s.dialled[0]
			c.h.Opened(c)
		}
		c.say(said, int(piece))
		s.run()
		s.pass(time.Second)
		c.hangUp(errors.New("gone"))
		if err := s.answers(s.client("c", 1<<40), s.instance(nil, 1<<41), 1); err != nil {
			t.Fatal(err)
		}
	})
}

var _ env.Network = (*stand)(nil)
