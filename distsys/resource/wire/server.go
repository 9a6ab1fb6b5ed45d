package wire

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/env"
)

// ServerOwner is told what happens on a Server's links, with the lock held.
type ServerOwner interface {
	// Up says that a peer has connected.
	Up(p *Peer)
	// Frame gives a frame of the service. An error ends the connection.
	Frame(p *Peer, t Type, payload []byte) error
	// Down says that a peer, of which Up told, is gone.
	Down(p *Peer, err error)
}

// Server accepts links.
type Server struct {
	opt      Options
	service  string
	owner    ServerOwner
	listener env.Listener
	links    map[*link]*Peer
	accepted uint64 // numbers links
	closed   bool
	rejected int
}

// Peer is the other side of a link to a Server.
type Peer struct {
	Hello Hello
	link  *link
}

// NewServer listens at addr. O is complete. The lock is not held.
func NewServer(o Options, addr env.Addr, service string, owner ServerOwner) (*Server, error) {
	s := &Server{opt: o, service: service, owner: owner, links: map[*link]*Peer{}}
	l, err := o.Env.Network.Listen(addr, s.accept)
	if err != nil {
		return nil, err
	}
	s.listener = l
	return s, nil
}

// Addr is where the server listens.
func (s *Server) Addr() env.Addr { return s.listener.Addr() }

// Rejected is the number of connections that ended before they were up.
func (s *Server) Rejected() int { return s.rejected }

func (s *Server) accept(conn env.Conn) env.Handler {
	s.opt.Lock.Lock()
	defer s.opt.Lock.Unlock()
	if s.closed {
		s.rejected++
		return nil
	}
	s.makeRoom()
	l := newLink(&s.opt, s.service, false)
	l.conn = conn
	s.accepted++
	l.number = s.accepted
	s.links[l] = nil
	l.onUp = func() {
		p := &Peer{Hello: l.peer, link: l}
		if !s.makePlace(l) {
			return
		}
		s.links[l] = p
		s.owner.Up(p)
	}
	l.onFrame = func(t Type, payload []byte) error { return s.owner.Frame(s.links[l], t, payload) }
	l.onRoom = func() {}
	l.onPart = s.boundParts
	l.onDown = func(err error) {
		p := s.links[l]
		delete(s.links, l)
		if p == nil {
			s.rejected++
			return
		}
		s.owner.Down(p, err)
	}
	l.start()
	return l
}

// makePlace makes room among the peers for one whose handshake is done. Where there
// are too many, it ends the newest connection of the host that has most of them, which
// may be this one: then it returns false. A host that opens connections keeps no
// peer of another host out.
func (s *Server) makePlace(l *link) bool {
	peers, hosts := 1, map[string]int{host(l.conn.Remote()): 1}
	for o, p := range s.links {
		if p != nil && o.why == nil {
			peers++
			hosts[host(o.conn.Remote())]++
		}
	}
	if peers <= s.opt.PeersMax {
		return true
	}
	goes := l
	for o, p := range s.links {
		if p != nil && o.why == nil && hosts[host(o.conn.Remote())] > hosts[host(goes.conn.Remote())] {
			goes = o
		}
	}
	for o, p := range s.links {
		if p != nil && o.why == nil && host(o.conn.Remote()) == host(goes.conn.Remote()) && o.number > goes.number {
			goes = o
		}
	}
	goes.close(&RejectError{Reason: fmt.Sprintf("there are %d connections, most of them from this host", s.opt.PeersMax)})
	return goes != l
}

// makeRoom makes room for one more connection that shakes hands. Where there are too
// many, it ends the oldest that does, of the host that has most of them: a host that
// opens connections and says nothing keeps out no other host.
func (s *Server) makeRoom() {
	waiting := 0
	hosts := map[string]int{}
	for l, p := range s.links {
		if p == nil {
			waiting++
			hosts[host(l.conn.Remote())]++
		}
	}
	if waiting < s.opt.HandshakesMax {
		return
	}
	var goes *link
	for l, p := range s.links {
		if p != nil {
			continue
		}
		if goes == nil || cmp.Or(cmp.Compare(hosts[host(goes.conn.Remote())], hosts[host(l.conn.Remote())]), cmp.Compare(l.number, goes.number)) < 0 {
			goes = l
		}
	}
	delete(s.links, goes)
	s.rejected++
	goes.drop()
}

// host is the part of an address that its owner cannot choose at will.
func host(a env.Addr) string {
	if i := strings.LastIndexByte(string(a), ':'); i >= 0 {
		return string(a)[:i]
	}
	return string(a)
}

// boundParts ends the connection with the longest unfinished frame while all
// of them together are too long.
func (s *Server) boundParts() {
	for {
		sum := 0
		var most *link
		for l := range s.links {
			if n := l.dec.Partial(); l.why == nil && n > 0 {
				sum += n
				if most == nil || n > most.dec.Partial() || n == most.dec.Partial() && l.number < most.number {
					most = l
				}
			}
		}
		if sum <= s.opt.PartialMax {
			return
		}
		most.close(Malformed("unfinished frames of %d bytes are over the limit of %d", sum, s.opt.PartialMax))
		most.dec.Drop()
	}
}

// Send queues a whole frame. A peer that does not keep up with what the server
// says is given up: it connects again and asks again.
func (p *Peer) Send(frame []byte) {
	if err := p.link.send(frame); err != nil {
		p.link.close(err)
	}
}

// Drop ends the connection; Down follows.
func (p *Peer) Drop(err error) { p.link.close(err) }

// Shut ends all links, in the order in which they were accepted; the owner
// hears no more. The lock is held.
func (s *Server) Shut() {
	s.closed = true
	for _, l := range slices.SortedFunc(maps.Keys(s.links), func(a, b *link) int { return cmp.Compare(a.number, b.number) }) {
		l.drop()
	}
	clear(s.links)
}

// Close stops listening. The lock is not held: an accept may be waiting for
// it. Shut comes first.
func (s *Server) Close() error { return s.listener.Close() }
