// SPDX-License-Identifier: Apache-2.0

package link

import (
	"errors"
	"fmt"
	"sync"

	"github.com/ashlar-dev/ashlar/env"
)

// partialFree is the size up to which an unfinished frame does not count
// towards PartialMax: the size of an ordinary frame.
const partialFree = 64 << 10

// errRoom ends a connection before its handshake is over, to make room.
var errRoom = errors.New("too many connections are in their handshake, most of them from this host or its network")

// Door bounds the incoming connections: the number of strangers, whose handshake
// is not over, and of peers; the time that their handshakes and frames may take;
// and the memory of unfinished frames. When a limit is exceeded, the network
// with the largest use loses a connection, and in that network the host with the
// largest use. So a network that uses no more than an equal share of a limit
// loses nothing because of others. In a network that loses, the same holds for a
// host that uses no more than an equal share of the network's use. All hosts of
// a network together have one share, which is no larger than that of a single
// host elsewhere. A refused connection that stays open until the other side has
// read the reason counts as a stranger.
//
// It is safe for concurrent use and takes no other lock.
type Door struct {
	opt *Options

	mu      sync.Mutex
	all     []*Session
	entered uint64
	partial int // bytes, as counted
	closed  bool
	turned  uint64
}

// NewDoor returns a Door. The options must be complete.
func NewDoor(o *Options) *Door { return &Door{opt: o} }

// stranger reports whether a session counts as a stranger.
func stranger(s *Session) bool { return !s.known || s.Over() }

// The weights by which the Door compares hosts.
func strangers(s *Session) int {
	if stranger(s) {
		return 1
	}
	return 0
}
func peers(s *Session) int   { return 1 - strangers(s) }
func partial(s *Session) int { return s.counted }

// Enter admits a stranger, which may evict another one. It returns false after
// Close.
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

// most returns the host with the largest weight in the network with the largest
// weight. A tie goes to the host of own, which may be nil.
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

// Known moves a session whose handshake is over to the peers. That may end
// another session, or this one: then Known returns false.
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

// Weigh records the length of a session's unfinished frame, and ends sessions
// while the total exceeds the limit. Call it once Next has reported that there
// are no more frames.
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

// shed picks the host with the most bytes in unfinished frames and ends its
// session with the longest one.
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
	// Drop frees the frame's memory at once.
	longest.Drop(Malformed("", "unfinished frames exceed the limit of %d bytes", d.opt.PartialMax))
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

// Count returns the number of connections, and the number of those that were
// ended for lack of room.
func (d *Door) Count() (conns int, turnedAway uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.all), d.turned
}

// Close ends all sessions and admits no new ones. Sessions that were refused
// end once the other side has had time to read the reason.
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
