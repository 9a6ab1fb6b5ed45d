// SPDX-License-Identifier: Apache-2.0

package link_test

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/link"
)

func alive(conns []*standConn) (n int) {
	for _, c := range conns {
		if !c.closing {
			n++
		}
	}
	return n
}

// TestStrangersOfOneHost: a host that connects and says nothing loses its own
// connections, the oldest first; those of others stay, though they are older.
func TestStrangersOfOneHost(t *testing.T) {
	s := newStand(t)
	s.serve(func(o *link.Options) { o.StrangersMax, o.StrangersHostMax = 8, 5 })
	quiet := []*standConn{s.connect("a"), s.connect("b")}
	var flood []*standConn
	for i := range 1000 {
		flood = append(flood, s.connect("c"))
		if n := alive(flood); n != min(i+1, 5) {
			t.Fatalf("after %d connections of a host, %d are there", i+1, n)
		}
	}
	if alive(flood[995:]) != 5 {
		t.Error("the oldest were not ended first")
	}
	// All places are taken: by then the host with most loses one for each of others.
	for i := range 4 {
		quiet = append(quiet, s.connect(fmt.Sprint("d", i)))
	}
	if a, b := alive(quiet), alive(flood); a != 6 || b != 2 {
		t.Errorf("%d of others and %d of the flood are there, want 6 and 2", a, b)
	}
	// A peer that says who it is finds room at once.
	s.peer("e")
}

// TestNetworksHaveEqualShares: a host that connects all the time has no more
// places than all hosts of another network together, once those want them; and
// a network with fewer loses none.
func TestNetworksHaveEqualShares(t *testing.T) {
	s := newStand(t)
	s.serve(func(o *link.Options) { o.ConnsMax = 8 })
	join := func(host string, n int) (all []*standConn) {
		for range n {
			c := s.connect(host)
			c.say(rawFrame{1, goodHello().payload()}.bytes(), 0)
			all = append(all, c)
		}
		return all
	}
	places := func(conns []*standConn) (n int) {
		for _, c := range conns {
			if c.refusal() == 0 {
				n++
			}
		}
		return n
	}
	greedy := join("1.2.3.4", 20)
	var site []*standConn
	for i := range 10 {
		site = append(site, join(fmt.Sprintf("[2001:db8::%x]", i+1), 1)...)
		greedy = append(greedy, join("1.2.3.4", 5)...)
	}
	if a, b := places(site), places(greedy); a != 4 || b != 4 {
		t.Errorf("a network of ten hosts has %d places, and a host elsewhere %d of 8; want 4 each", a, b)
	}
	late := join("1.2.3.5", 2)
	join("1.2.3.4", 20)
	join("[2001:db8::f]", 20)
	if n := places(late); n != 2 {
		t.Errorf("a host with two of eight places, wanted by three networks, has %d left", n)
	}
}

// TestAddressesOfOneNetwork: a machine that connects from more addresses of its
// network than there are places, says nothing or becomes a peer, takes nothing from
// networks with fewer connections; and within the network the host that has most loses.
func TestAddressesOfOneNetwork(t *testing.T) {
	addr := func(i int) string { return fmt.Sprintf("[2001:db8:0:1:%x::%x%%eth0]", i%7, i) }
	s := newStand(t)
	s.serve(func(o *link.Options) { o.ConnsMax, o.StrangersMax, o.StrangersHostMax = 8, 8, 6 })
	quiet := []*standConn{s.connect("[2001:db8:0:2::1]"), s.connect("1.2.3.4"), s.connect("[::ffff:1.2.3.5]")}
	for i := range 1000 {
		s.connect(addr(i))
	}
	if n := alive(quiet); n != len(quiet) {
		t.Errorf("%d of %d strangers of other networks are there", n, len(quiet))
	}
	others := []*standConn{s.peer("1.2.3.4"), s.peer("[2001:db8:0:2::1]"), s.peer("[::ffff:1.2.3.5]")}
	twice := []*standConn{s.peer(addr(1)), s.peer(addr(1))}
	once := []*standConn{s.peer(addr(2)), s.peer(addr(3)), s.peer(addr(4))}
	late := s.peer("[::ffff:1.2.3.6]")
	for i := range 1000 {
		c := s.connect(addr(i + 5))
		c.say(rawFrame{1, goodHello().payload()}.bytes(), 0)
	}
	for _, c := range append(append(others, late, twice[0]), once...) {
		if c.refusal() != 0 {
			t.Errorf("the peer of %s has lost its place to a network with more", c.remote)
		}
	}
	if twice[1].refusal() != 6 {
		t.Error("the host with most of the network has both its places")
	}
}

// TestRefusedCountAsStrangers: connections that were refused and are not closed
// by the other side take no more places than strangers.
func TestRefusedCountAsStrangers(t *testing.T) {
	s := newStand(t)
	s.serve(func(o *link.Options) { o.ConnsMax, o.StrangersMax, o.StrangersHostMax = 4, 3, 3 })
	var all []*standConn
	for range 50 {
		c := s.peer("a")
		c.say(rawFrame{5, []byte("a ping with more")}.bytes(), 0)
		if c.refusal() != 8 {
			t.Fatal("not refused")
		}
		all = append(all, c)
		if n := alive(all); n > 3 {
			t.Fatalf("%d are open", n)
		}
	}
	s.pass(time.Second)
	if n := alive(all); n != 0 {
		t.Errorf("%d are open when their time is over", n)
	}
}

// TestPeersOfOneHost: of too many connections whose handshake is over, the
// newest of the host that has most ends.
func TestPeersOfOneHost(t *testing.T) {
	s := newStand(t)
	w := s.serve(func(o *link.Options) { o.ConnsMax = 4 })
	other := s.peer("b")
	var many []*standConn
	for range 20 {
		c := s.connect("a")
		c.say(rawFrame{1, goodHello().payload()}.bytes(), 0)
		many = append(many, c)
	}
	for i, c := range many {
		if refused := c.refusal() == 6; refused != (i >= 3) {
			t.Errorf("connection %d: refused %v", i, refused)
		}
	}
	late := s.peer("c")
	if other.refusal() != 0 || late.refusal() != 0 || many[2].refusal() != 6 || many[1].refusal() != 0 {
		t.Error("another than the newest of the host with most has ended")
	}
	if len(w.up) != 5 {
		t.Errorf("%d were up, want 5", len(w.up))
	}
}

// begin is the beginning of a frame of a length.
func begin(length, have int) []byte {
	b := append(binary.LittleEndian.AppendUint32(nil, uint32(length-4)), 1, 16)
	return append(b, make([]byte, have-6)...)
}

// TestUnfinishedFramesOfOneHost: unfinished frames are bounded together, and of
// the host that has most the longest goes. Short ones are not counted.
func TestUnfinishedFramesOfOneHost(t *testing.T) {
	const mb = 1 << 20
	s := newStand(t)
	s.serve(func(o *link.Options) { o.FrameMax, o.PartialMax, o.FrameWithin = 2*mb, 4*mb, time.Hour })
	short := s.peer("c")
	short.say(begin(mb, 60<<10), 0)
	other := s.peer("b")
	other.say(begin(2*mb, mb+mb/2), 0)
	var many []*standConn
	for i := range 10 {
		c := s.peer("a")
		c.say(begin(2*mb, mb+i), 4096)
		many = append(many, c)
		if n := alive(many); n > 2 {
			t.Fatalf("%d of a host hold a megabyte, of four for all", n)
		}
	}
	if other.closing || short.closing {
		t.Error("a host with less has lost its connection")
	}
	// A stranger that finishes a frame holds nothing.
	for _, c := range append(many, other) {
		c.hangUp(nil)
	}
	for range 10 {
		c := s.peer("a")
		f := rawFrame{16, make([]byte, 2*mb-10)}.bytes()
		c.say(f, mb)
		if c.closing || len(c.said) == 0 {
			t.Fatal("a frame that was finished has ended its connection")
		}
	}
}

// TestLateConnectionsEnd: what takes too long ends: a handshake, a frame that
// comes byte by byte, and silence; while a peer that pings stays.
func TestLateConnectionsEnd(t *testing.T) {
	for _, c := range []struct {
		name   string
		peer   bool
		each   []byte // said each half second
		within time.Duration
	}{
		{"nothing", false, nil, link.HelloWithinDefault},
		{"a hello by bytes", false, []byte{0}, link.HelloWithinDefault},
		{"silent peer", true, nil, link.DeadAfterDefault},
		{"a frame by bytes", true, []byte{0}, link.FrameWithinDefault},
		{"pings", true, rawFrame{5, nil}.bytes(), 0},
	} {
		s := newStand(t)
		s.serve(nil)
		var k *standConn
		if c.peer {
			k = s.peer("a")
		} else {
			k = s.connect("a")
		}
		if len(c.each) == 1 {
			k.say(begin(2000, 10), 0)
		}
		took := time.Duration(0)
		for ; took < time.Minute && !k.closed; took += time.Second / 2 {
			s.pass(time.Second / 2)
			k.say(c.each, 0)
		}
		if c.within == 0 {
			if k.closed || len(k.heard()) < 100 {
				t.Errorf("%s: closed %v, %d frames", c.name, k.closed, len(k.heard()))
			}
		} else if took < c.within-time.Second || took > c.within+2*time.Second {
			t.Errorf("%s: ended after %v, want %v", c.name, took, c.within)
		}
	}
}
