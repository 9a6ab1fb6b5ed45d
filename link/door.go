// SPDX-License-Identifier: Apache-2.0

package link

import (
	"errors"
	"fmt"
	"sync"

	"github.com/ashlar-dev/ashlar/env"
)

// partialFree is the size that an unfinished frame of any connection may have
// without being counted: that of an ordinary frame.
const partialFree = 64 << 10

// errRoom is why a connection ends whose handshake is not over.
var errRoom = errors.New("too many connections shake hands, most of them from this host or its network")

// Door bounds the connections that others have made: how many there are of
// strangers, whose handshake is not over, and of peers, how long their
// handshakes and frames may take, and how much memory unfinished frames may
// have. When there is too much of something, the network that has most of it
// loses a connection, and in that network the host that has most. So a network
// that has no more than an equal share of a limit loses nothing to others, and
// in a network that loses, neither does a host that has no more than an equal
// share of what the network has. All hosts of a network have one share together:
// it is no larger than that of a single host elsewhere. A connection that was
// refused, and is kept open until the other side has read why, counts as a
// stranger.
//
// It is safe for concurrent use, and takes no other lock.
type Door struct {
	opt *Options

	mu      sync.Mutex
	all     []*Session
	entered uint64
	partial int // bytes, as counted
	closed  bool
	turned  uint64
}

// NewDoor returns a Door for connections with complete options.
func NewDoor(o *Options) *Door { return &Door{opt: o} }

// stranger reports whether a session counts as one.
func stranger(s *Session) bool { return !s.known || s.Over() }

// Weights of sessions, of which a host may have too much.
func strangers(s *Session) int {
	if stranger(s) {
		return 1
	}
	return 0
}
func peers(s *Session) int   { return 1 - strangers(s) }
func partial(s *Session) int { return s.counted }

// Enter takes in a stranger, which may cost another one its place. It returns
// false after Close.
func (d *Door) Enter(s *Session) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.makeRoom(s)
	d.entered++
	s.number, s.place, s.entered = d.entered, len(d.all), true
	d.all = append(d.all, s)
	return true
}

// makeRoom makes room for one more stranger.
func (d *Door) makeRoom(newest *Session) {
	of := newest.host
	switch {
	case len(d.all) < min(d.opt.StrangersHostMax, d.opt.StrangersMax):
		return // no limit can be reached
	case d.sum(func(s *Session) int {
		if s.host != of {
			return 0
		}
		return strangers(s)
	}) >= d.opt.StrangersHostMax:
	case d.sum(strangers) >= d.opt.StrangersMax:
		of = d.most(strangers, newest)
	default:
		return
	}
	var oldest *Session
	for _, s := range d.all {
		if stranger(s) && s.host == of && (oldest == nil || s.number < oldest.number) {
			oldest = s
		}
	}
	d.remove(oldest)
	d.turned++
	oldest.Drop(errRoom)
}

func (d *Door) sum(weight func(*Session) int) (sum int) {
	for _, s := range d.all {
		sum += weight(s)
	}
	return sum
}

// most returns the host that has most, in the network that has most. Where no
// other has more, that is the host of own, which may be nil.
func (d *Door) most(weight func(*Session) int, own *Session) string {
	networks, hosts := map[string]int{}, map[string]int{}
	for _, s := range d.all {
		networks[s.network] += weight(s)
		hosts[s.host] += weight(s)
	}
	for _, s := range d.all {
		if own == nil || networks[s.network] > networks[own.network] || s.network == own.network && hosts[s.host] > hosts[own.host] {
			own = s
		}
	}
	return own.host
}

// Known gives a session whose handshake is over a place among the peers. That
// may cost another one its place, or this one: then Known returns false.
func (d *Door) Known(s *Session) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !s.entered || s.Over() {
		return false
	}
	s.known = true
	if len(d.all) <= d.opt.ConnsMax || d.sum(peers) <= d.opt.ConnsMax {
		return true
	}
	newest := s
	of := d.most(peers, s)
	if of != s.host {
		newest = nil
	}
	for _, o := range d.all {
		if !stranger(o) && o.host == of && (newest == nil || o.number > newest.number) {
			newest = o
		}
	}
	d.turned++
	newest.End(&Refusal{Code: RefusalFull, Text: fmt.Sprintf("there are %d connections, most of them from this host or its network", d.opt.ConnsMax)})
	return newest != s
}

// Weigh notes how long a session's unfinished frame is, and ends sessions while
// all of them together are too long. It must be called after Next has answered
// that there is no more frame.
func (d *Door) Weigh(s *Session) {
	n := int(s.part.Load())
	if n <= partialFree {
		n = 0
	}
	if n == 0 && !s.weighed {
		return
	}
	s.weighed = n > 0
	d.mu.Lock()
	defer d.mu.Unlock()
	if !s.entered || n == s.counted {
		return
	}
	d.partial += n - s.counted
	s.counted = n
	for d.partial > d.opt.PartialMax {
		d.shed()
	}
}

// shed ends the session with the longest unfinished frame of the host that has
// most of them.
func (d *Door) shed() {
	of := d.most(partial, nil)
	var longest *Session
	for _, s := range d.all {
		if s.host == of && s.counted > 0 && (longest == nil || s.counted > longest.counted) {
			longest = s
		}
	}
	d.partial -= longest.counted
	longest.counted = 0
	d.turned++
	// What it holds is to be free at once.
	longest.Drop(Malformed("", "unfinished frames are over the limit of %d bytes", d.opt.PartialMax))
}

// Look ends sessions that are late.
func (d *Door) Look(now env.Instant) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.all {
		if err := s.Late(now); err != nil {
			s.Drop(err)
		}
	}
}

// Leave forgets a session that has ended.
func (d *Door) Leave(s *Session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remove(s)
}

func (d *Door) remove(s *Session) {
	if !s.entered {
		return
	}
	s.entered = false
	d.partial -= s.counted
	s.counted = 0
	last := len(d.all) - 1
	d.all[s.place] = d.all[last]
	d.all[s.place].place = s.place
	d.all[last] = nil
	d.all = d.all[:last]
}

// Count returns how many connections there are, and how many others were ended
// for want of room.
func (d *Door) Count() (conns int, turnedAway uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.all), d.turned
}

// Close ends all sessions, and keeps others out. Those that were refused end
// when the other side has had time to read why.
func (d *Door) Close(why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, s := range d.all {
		if !s.Over() {
			s.Drop(why)
		}
	}
}
