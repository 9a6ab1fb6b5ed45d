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
var errRoom = errors.New("too many connections shake hands, most of them from this host")

// Door bounds the connections that others have made: how many there are of
// strangers, whose handshake is not over, and of peers, how long their
// handshakes and frames may take, and how much memory unfinished frames may
// have. When there is too much of something, the host that has most of it loses
// a connection; so a host can only keep out itself. A connection that was
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

// Enter takes in a stranger, which may cost another one its place. It returns
// false after Close.
func (d *Door) Enter(s *Session) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.makeRoom(s.host)
	d.entered++
	s.number, s.place, s.entered = d.entered, len(d.all), true
	d.all = append(d.all, s)
	return true
}

// makeRoom makes room for one more stranger from a host.
func (d *Door) makeRoom(from string) {
	hosts, sum := d.count(stranger)
	switch {
	case hosts[from] >= d.opt.StrangersHostMax:
	case sum >= d.opt.StrangersMax:
		from = d.most(hosts, from)
	default:
		return
	}
	var oldest *Session
	for _, s := range d.all {
		if stranger(s) && s.host == from && (oldest == nil || s.number < oldest.number) {
			oldest = s
		}
	}
	d.remove(oldest)
	d.turned++
	oldest.Drop(errRoom)
}

// count counts the sessions of each host, and all, for which which is true.
func (d *Door) count(which func(*Session) bool) (hosts map[string]int, sum int) {
	if len(d.all) < min(d.opt.StrangersHostMax, d.opt.StrangersMax, d.opt.ConnsMax) {
		return nil, 0 // no limit can be reached
	}
	hosts = map[string]int{}
	for _, s := range d.all {
		if which(s) {
			hosts[s.host]++
			sum++
		}
	}
	return hosts, sum
}

// most is the host that has most, and first where none has more.
func (d *Door) most(hosts map[string]int, first string) string {
	for _, s := range d.all {
		if hosts[s.host] > hosts[first] {
			first = s.host
		}
	}
	return first
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
	hosts, sum := d.count(func(s *Session) bool { return !stranger(s) })
	if sum <= d.opt.ConnsMax {
		return true
	}
	newest := s
	of := d.most(hosts, s.host)
	if of != s.host {
		newest = nil
	}
	for _, o := range d.all {
		if !stranger(o) && o.host == of && (newest == nil || o.number > newest.number) {
			newest = o
		}
	}
	d.turned++
	newest.End(&Refusal{Code: RefusalFull, Text: fmt.Sprintf("there are %d connections, most of them from this host", d.opt.ConnsMax)})
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
	hosts := map[string]int{}
	for _, s := range d.all {
		hosts[s.host] += s.counted
	}
	of := d.most(hosts, "")
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
