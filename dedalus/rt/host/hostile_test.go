// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/client"
	"github.com/ashlar-dev/ashlar/dedalus/rt/host"
	"github.com/ashlar-dev/ashlar/dedalus/rt/internal/raw"
	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
)

// live is the line program on this machine's loopback.
type live struct {
	t     *testing.T
	world env.Env
	tasks *osenv.Tasks
	p     *rt.Program
	l     *line
	near  *host.Host
}

// newLive opens near/0; far/0 is nowhere.
func newLive(t *testing.T, change func(*host.Options)) *live {
	t.Helper()
	x := &live{t: t, world: osenv.New(), tasks: osenv.NewTasks(), l: &line{came: map[string]int{}}}
	network := osenv.NewNetwork(osenv.NetworkOptions{})
	x.world.Network = network
	x.p = lineProgram(x.l)
	o := host.Options{Env: x.world, Tasks: x.tasks, Program: x.p, Who: rt.Identity{Node: "near/0", Self: "near/0"}, Listen: "127.0.0.1:0",
		Peers: map[string]env.Addr{"near/0": "127.0.0.1:1", "far/0": "127.0.0.1:1"}, ResendEvery: -1, PingAfter: 100 * time.Millisecond, DeadAfter: time.Minute}
	if change != nil {
		change(&o)
	}
	var err error
	if x.near, err = host.Open(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		x.tasks.Close()
		if err := x.near.Close(); err != nil {
			t.Error(err)
		}
		network.Close()
	})
	return x
}

// served are another instance, which has been welcomed, and what a client of the host
// is told.
func (x *live) served() (far *stranger, outputs chan string) {
	x.t.Helper()
	outputs = make(chan string, 10)
	c, err := client.Open(client.Options{Env: x.world, Program: x.p, Name: "c", Nodes: map[string]env.Addr{"near/0": x.near.Addr()},
		Output: func(_ string, _ int, row []byte) { outputs <- string(row) }})
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { c.Close() })
	hello := asClient("far/0")
	hello.Role = raw.Instance
	far = x.dial()
	far.say(raw.AppendHello(nil, &hello))
	far.hear(raw.TypeWelcome)
	return far, outputs
}

// stranger is a connection that says what a test wants, and hears.
type stranger struct {
	t      *testing.T
	conn   env.Conn
	opened chan struct{}
	scan   raw.Scanner
	frames chan raw.Frame
	closed chan error
	once   sync.Once
}

func (x *live) dial() *stranger {
	s := &stranger{t: x.t, opened: make(chan struct{}), frames: make(chan raw.Frame, 100), closed: make(chan error, 1), scan: raw.Scanner{}}
	s.conn = x.world.Network.Dial(x.near.Addr(), s)
	select {
	case <-s.opened:
	case err := <-s.closed:
		x.t.Fatal(err)
	}
	x.t.Cleanup(s.conn.Close)
	return s
}

func (s *stranger) Opened(env.Conn)  { close(s.opened) }
func (s *stranger) Drained(env.Conn) {}
func (s *stranger) Closed(_ env.Conn, err error) {
	s.once.Do(func() { s.closed <- err; close(s.frames) })
}
func (s *stranger) Data(_ env.Conn, b []byte) {
	s.scan.Feed(b)
	for {
		f, ok, err := s.scan.Next()
		if err != nil {
			s.t.Error(err)
		}
		if !ok || err != nil {
			return
		}
		f.Payload = append([]byte(nil), f.Payload...)
		s.frames <- f
	}
}

// hear waits for the next frame of a type; acks may come in between.
func (s *stranger) hear(typ raw.Type) raw.Frame {
	s.t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	for {
		select {
		case f, ok := <-s.frames:
			if !ok {
				s.t.Fatalf("closed before a %v came", typ)
			}
			if f.Type == typ {
				return f
			}
			if f.Type != raw.TypeAck {
				s.t.Fatalf("a %v in place of a %v: %q", f.Type, typ, f.Payload)
			}
		case <-deadline.C:
			s.t.Fatalf("no %v came", typ)
		}
	}
}

func (s *stranger) refused(code raw.RefusalCode, text string) {
	s.t.Helper()
	r, err := raw.DecodeRefusal(s.hear(raw.TypeRefusal).Payload)
	if err != nil || r.Code != code || !strings.Contains(r.Text, text) {
		s.t.Errorf("refused: %v, %v; want %v with %q", r, err, code, text)
	}
}

func (s *stranger) say(b []byte) {
	s.t.Helper()
	if err := s.conn.Write(b); err != nil {
		s.t.Error(err)
	}
}

func asClient(name string) raw.Hello {
	return raw.Hello{Version: raw.Version, Role: raw.Client, Program: 7, Life: 1, Window: 1 << 20, From: name, To: "near/0"}
}

// batch is a frame with one message.
func batch(relation int, row string) []byte {
	o := wire.Outbox{Max: 1 << 24}
	o.Add(relation, []byte(row))
	o.Seal()
	return o.Next(0)
}

// TestHellos: who may say what, and what else is refused.
func TestHellos(t *testing.T) {
	key := []byte("a key of some length")
	x := newLive(t, func(o *host.Options) { o.Key = key })
	instance := asClient("far/0")
	instance.Role, instance.Keyed = raw.Instance, true
	for _, c := range []struct {
		name   string
		change func(h *raw.Hello)
		code   raw.RefusalCode
		text   string
	}{
		{"another version", func(h *raw.Hello) { h.Version = 2 }, raw.RefusalVersion, "version 1"},
		{"another program", func(h *raw.Hello) { h.Program = 8 }, raw.RefusalProgram, `want "0000000000000007"`},
		{"another node", func(h *raw.Hello) { h.To = "far/0" }, raw.RefusalNode, `this is node "near/0"`},
		{"no name", func(h *raw.Hello) { h.From = "" }, raw.RefusalMessage, "the name and the life must be set"},
		{"no life", func(h *raw.Hello) { h.Life = 0 }, raw.RefusalMessage, "the name and the life must be set"},
		{"a client called as an instance", func(h *raw.Hello) { h.From = "far/0" }, raw.RefusalName, "name of an instance"},
		{"a client called as this instance", func(h *raw.Hello) { h.From = "near/0" }, raw.RefusalName, "name of an instance"},
		{"a client called as an instance could be", func(h *raw.Hello) { h.From = "far/17" }, raw.RefusalName, "name of an instance"},
		{"an instance that there is not", func(h *raw.Hello) { h.From, h.Role = "far/1", raw.Instance }, raw.RefusalName, "is not another instance"},
		{"an instance without the key", func(h *raw.Hello) { h.From, h.Role = "far/0", raw.Instance }, raw.RefusalKey, "must have the same key"},
		{"a client with a key", func(h *raw.Hello) { h.Keyed = true }, raw.RefusalKey, "without the key"},
		{"another role", func(h *raw.Hello) { h.Role = 9 }, raw.RefusalMessage, "unknown role 9"},
		{"this instance itself", func(h *raw.Hello) { h.From, h.Role = "near/0", raw.Instance }, raw.RefusalName, "is not another instance"},
	} {
		h := asClient("c")
		c.change(&h)
		s := x.dial()
		s.say(raw.AppendHello(nil, &h))
		s.refused(c.code, c.text)
		if err := <-s.closed; err == nil {
			t.Errorf("%s: not closed", c.name)
		}
	}
	for _, c := range []struct {
		name  string
		proof func(w raw.Welcome) []byte
		code  raw.RefusalCode
		text  string
	}{
		{"no key", func(raw.Welcome) []byte { return raw.AppendProof(nil, raw.Proof{}) }, raw.RefusalKey, "key"},
		{"another key", func(w raw.Welcome) []byte {
			return raw.AppendProof(nil, raw.Prove([]byte("another"), true, &instance, &w))
		}, raw.RefusalKey, "key"},
		{"the proof that it was given", func(w raw.Welcome) []byte { return raw.AppendProof(nil, w.Proof) }, raw.RefusalKey, "key"},
		{"messages at once", func(raw.Welcome) []byte { return batch(relBack, "x") }, raw.RefusalMessage, "not expected here"},
		{"a second hello", func(raw.Welcome) []byte { return raw.AppendHello(nil, &instance) }, raw.RefusalMessage, "not expected here"},
	} {
		s := x.dial()
		s.say(raw.AppendHello(nil, &instance))
		w, err := raw.DecodeWelcome(s.hear(raw.TypeWelcome).Payload)
		if err != nil || !w.Proof.Same(raw.Prove(key, false, &instance, &w)) {
			t.Fatalf("%s: the welcome is %+v, %v", c.name, w, err)
		}
		s.say(c.proof(w))
		s.refused(c.code, c.text)
	}
	s := x.dial()
	s.say([]byte("GET / HTTP/1.1\r\n\r\n"))
	s.refused(raw.RefusalMessage, "bad frame")
	if c := x.near.Status().Counts; c.Refused != 19 || c.Delivered != 0 {
		t.Errorf("%+v", c)
	}
}

// TestMessagesOfClients: what is no input, what does not come here, what is no row.
func TestMessagesOfClients(t *testing.T) {
	x := newLive(t, func(o *host.Options) { o.ClientWindow = 100 })
	for i, c := range []struct {
		name string
		say  []byte
		text string
	}{
		{"a message of instances", batch(relBack, "x"), "this sender may not send back"},
		{"an output", batch(relOut, "x"), "this sender may not send out"},
		{"no relation", batch(99, "x"), "relation 99 of 4"},
		{"a batch that is none", append([]byte{15, 0, 0, 0, 1, 16, 1, 0, 0, 0, 0, 0, 0, 0, 1}, 0, 0, 0, 0), "wrong checksum"},
		{"an ack of nothing", wire.AppendAck(nil, 5), "acknowledges batch 5"},
		{"a hello again", raw.AppendHello(nil, &raw.Hello{Version: 1}), "hello frame"},
	} {
		h := asClient("c")
		h.Life += uint64(i) // else the batch has come before
		s := x.dial()
		s.say(raw.AppendHello(nil, &h))
		s.hear(raw.TypeWelcome)
		s.say(c.say)
		s.refused(raw.RefusalMessage, c.text)
	}
	// A window that is not kept to: with two batches at a time, one must wait.
	h := asClient("pushy")
	s := x.dial()
	s.say(raw.AppendHello(nil, &h))
	s.hear(raw.TypeWelcome)
	o := wire.Outbox{Max: 1 << 20}
	var two []byte
	for range 2 {
		o.Add(relIn, make([]byte, 90))
		o.Seal()
		two = append(two, o.Next(1<<20)...)
		o.Sent()
	}
	for range 1000 { // whether one was taken before the other came is chance
		if s.conn.Write(two) != nil {
			break
		}
		h.Life++
		s = x.dial()
		s.say(raw.AppendHello(nil, &h))
		s.hear(raw.TypeWelcome)
		if strings.Contains(x.near.Status().Trouble, "the window is 100") {
			return
		}
	}
	t.Errorf("nobody was refused: %+v", x.near.Status())
}

// TestNames: the newest connection of a name counts; more clients than there is room
// for are turned away, unless others have left.
func TestNames(t *testing.T) {
	x := newLive(t, func(o *host.Options) { o.ClientsMax, o.ConnsMax = 2, 5 })
	meet := func(name string, life uint64) *stranger {
		h := asClient(name)
		h.Life = life
		s := x.dial()
		s.say(raw.AppendHello(nil, &h))
		return s
	}
	a := meet("a", 1)
	a.hear(raw.TypeWelcome)
	again := meet("a", 2)
	again.hear(raw.TypeWelcome)
	a.refused(raw.RefusalTaken, "newer")
	<-a.closed
	b := meet("b", 1)
	b.hear(raw.TypeWelcome)
	c := meet("c", 1)
	c.refused(raw.RefusalFull, "maximum number of clients")
	<-c.closed
	b.conn.Close()
	<-b.closed
	for { // when the host has heard of it, there is room
		c := meet("c", 1)
		f, ok := <-c.frames
		if ok && f.Type == raw.TypeWelcome {
			break
		}
		<-c.closed
	}
	if s := x.near.Status(); s.Clients != 2 {
		t.Errorf("%d clients", s.Clients)
	}
	var all []*stranger
	for x.near.Status().Counts.TurnedAway == 0 && len(all) < 20 {
		all = append(all, x.dial())
	}
	if len(all) == 20 {
		t.Error("more connections than there is room for")
	}
}

// TestDrain: nothing is taken any more, what is under way is finished, and a client that comes
// is turned away.
func TestDrain(t *testing.T) {
	x := newLive(t, nil)
	s, outputs := x.served()
	s.say(batch(relBack, "before"))
	if got := <-outputs; got != "before" { // so c is connected
		t.Error(got)
	}
	done := make(chan struct{})
	x.near.Drain(func() { close(done) })
	<-done
	if s := x.near.Status(); !s.Draining || s.ClientsQueued != 0 {
		t.Errorf("%+v", s)
	}
	again := make(chan struct{})
	x.near.Drain(func() { close(again) })
	<-again
}

// TestOptions: what is missing or too much is said.
func TestOptions(t *testing.T) {
	p := voteProgram()
	good := func() host.Options {
		w := osenv.New()
		w.Network = osenv.NewNetwork(osenv.NetworkOptions{})
		return host.Options{Env: w, Tasks: osenv.NewTasks(), Program: p, Component: 1, Who: rt.Identity{Node: "voter/0", Self: "voter/0"}, Listen: "127.0.0.1:0", Memory: true}
	}
	for want, change := range map[string]func(o *host.Options){
		"Options needs Program": func(o *host.Options) { o.Component = 2 },
		"Options needs Env":     func(o *host.Options) { o.Env.Clock = nil },
		"Options needs Who":     func(o *host.Options) { o.Who.Self = "" },
		"no directory":          func(o *host.Options) { o.Memory = false },
		"a limit":               func(o *host.Options) { o.Window = -1 },
		"has 300 bytes": func(o *host.Options) {
			o.Peers = map[string]env.Addr{strings.Repeat("x", 300): "a:1"}
		},
		"missing port": func(o *host.Options) { o.Listen = "127.0.0.1" },
	} {
		o := good()
		change(&o)
		if h, err := host.Open(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
			if h != nil {
				h.Close()
			}
		}
	}
}

// TestOtherLogs: a log of another node, or of another program, is not opened; nor one
// whose changes are none.
func TestOtherLogs(t *testing.T) {
	disk, err := osenv.OpenDisk(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	w := osenv.New()
	network := osenv.NewNetwork(osenv.NetworkOptions{})
	defer network.Close()
	w.Network, w.Disk = network, disk
	p := voteProgram()
	if err := host.Format(w, "log", p, "voter/1"); err != nil {
		t.Fatal(err)
	}
	open := func(p *rt.Program, node string) error {
		tasks := osenv.NewTasks()
		defer tasks.Close()
		h, err := host.Open(host.Options{Env: w, Tasks: tasks, Program: p, Component: 1, Who: rt.Identity{Node: node, Self: node}, Listen: "127.0.0.1:0", Dir: "log"})
		if err == nil {
			err = h.Close()
		}
		return err
	}
	other := voteProgram()
	other.Hash++
	for _, err := range []error{open(p, "voter/0"), open(other, "voter/1")} {
		if err == nil || !strings.Contains(err.Error(), "another instance or to another program") {
			t.Error(err)
		}
	}
	for range 2 {
		if err := open(p, "voter/1"); err != nil {
			t.Error(err)
		}
	}
	for want, record := range map[string]string{"empty record": "", "relation 50 of 5": "\x03\x64\x00", "truncated": "\x03\x08\x05x"} {
		if err := host.Changes(p, []byte(record), func(rt.Change) error { return nil }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", record, err, want)
		}
	}
}

// TestIncarnation: it grows with each start, and never goes back.
func TestIncarnation(t *testing.T) {
	disk, err := osenv.OpenDisk(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	w := env.Env{Disk: disk}
	for i, c := range []struct{ of, want uint64 }{{0, 1}, {0, 2}, {7, 7}, {7, 7}, {3, 8}, {0, 9}} {
		if got, err := host.Incarnation(w, "inc", c.of); err != nil || got != c.want {
			t.Errorf("%d: as of %d: %d, %v; want %d", i, c.of, got, err, c.want)
		}
	}
	f, err := disk.Open("inc/INCARNATION", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{99}, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := host.Incarnation(w, "inc", 0); err == nil || !strings.Contains(err.Error(), "wrong checksum") {
		t.Errorf("%d from a damaged file, %v", n, err)
	}
}

// TestPiecesStartTogether: a piece that has lost its memory takes the others with it,
// and a piece of an older incarnation gets nowhere.
func TestPiecesStartTogether(t *testing.T) {
	ended := make(chan error, 1)
	x := newLive(t, func(o *host.Options) {
		o.Pieces, o.Incarnation = []string{"far/0"}, 4
		o.Fatal = func(err error) { ended <- err }
	})
	meet := func(incarnation uint64) *stranger {
		far := asClient("far/0")
		far.Role, far.Incarnation = raw.Instance, incarnation
		far.Life = 10 + incarnation
		s := x.dial()
		s.say(raw.AppendHello(nil, &far))
		w, err := raw.DecodeWelcome(s.hear(raw.TypeWelcome).Payload)
		if err != nil || w.Incarnation != 4 {
			t.Fatalf("%+v, %v", w, err)
		}
		return s
	}
	meet(3).refused(raw.RefusalOld, "incarnation 3 has ended")
	s := meet(4)
	s.say(raw.AppendPing(nil, false))
	s.hear(raw.TypePong)
	meet(5).refused(raw.RefusalOld, "incarnation 5")
	err := <-ended
	var newer *host.NewerError
	if !errors.As(err, &newer) || newer.Incarnation != 5 || newer.Piece != "far/0" {
		t.Errorf("ended with %v", err)
	}
	if s := x.near.Status(); s.Failed == nil || fmt.Sprint(s.Failed) != fmt.Sprint(err) {
		t.Errorf("failed: %v", s.Failed)
	}
}

// TestOutputBeforeItsClient: an answer that is faster than the client's connection
// waits for it, up to a limit.
func TestOutputBeforeItsClient(t *testing.T) {
	x := newLive(t, nil)
	far := asClient("far/0")
	far.Role = raw.Instance
	s := x.dial()
	s.say(raw.AppendHello(nil, &far))
	s.hear(raw.TypeWelcome)
	o := wire.Outbox{Max: 1 << 24}
	row := strings.Repeat("x", 1000)
	for range 100 { // more than is kept for a stranger
		o.Add(relBack, []byte(row))
	}
	o.Seal()
	for b := o.Next(1 << 24); b != nil; b = o.Next(1 << 24) {
		s.say(b)
		o.Sent()
	}
	s.hear(raw.TypeAck)
	outputs := make(chan string, 100)
	c, err := client.Open(client.Options{Env: x.world, Program: x.p, Name: "c", Nodes: map[string]env.Addr{"near/0": x.near.Addr()},
		Output: func(_ string, _ int, row []byte) { outputs <- string(row) }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	counts := x.near.Status().Counts
	kept := int(counts.Sent)
	if kept < 50 || kept > 66 || counts.Unclaimed != 100-counts.Sent+100 { // 100 more are for nobody/7
		t.Errorf("%+v", counts)
	}
	for range kept {
		if got := <-outputs; got != row {
			t.Fatalf("%q", got)
		}
	}
}

// TestTwice: a batch that comes again counts once, over this connection or the next.
func TestTwice(t *testing.T) {
	x := newLive(t, nil)
	far := asClient("far/0")
	far.Role = raw.Instance
	for range 2 {
		s := x.dial()
		s.say(raw.AppendHello(nil, &far))
		s.hear(raw.TypeWelcome)
		s.say(append(batch(relBack, "x"), batch(relBack, "x")...))
		s.hear(raw.TypeAck)
	}
	if c := x.near.Status().Counts; c.Delivered != 1 || c.Doubled < 2 {
		t.Errorf("%+v", c)
	}
}

// TestPiecesMeet: pieces that have nothing to say to each other do connect.
func TestPiecesMeet(t *testing.T) {
	met := make(chan raw.Hello, 1)
	p := &peerAt{t: t, frames: make(chan raw.Frame, 10000), closed: make(chan error, 10000), welcome: func(h raw.Hello) raw.Welcome {
		met <- h
		return raw.Welcome{Life: 1, Node: "far/0", Window: 1 << 20, Incarnation: 4}
	}}
	newLive(t, func(o *host.Options) {
		l, err := o.Env.Network.Listen("127.0.0.1:0", p.accept)
		if err != nil {
			t.Fatal(err)
		}
		o.Peers["far/0"], o.Pieces, o.Incarnation = l.Addr(), []string{"far/0"}, 4
	})
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	select {
	case h := <-met:
		if h.Incarnation != 4 || h.From != "near/0" {
			t.Errorf("%+v", h)
		}
	case <-deadline.C:
		t.Error("nobody came")
	}
}
