// SPDX-License-Identifier: Apache-2.0

package space

import (
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// mutes is a transport that delivers nothing.
type mutes struct{ wor.Transport }

func (mutes) Listen(wor.Member, *wor.Request, func(*wor.Note), func(*wor.Reply), func()) func() {
	return func() {}
}

// TestVotesOfAnEpoch: notes of an epoch count by the members of that epoch, even if the
// next epoch is known already and the listener is not registered there yet.
func TestVotesOfAnEpoch(t *testing.T) {
	config := func(e wor.Epoch, n int) *wor.Config {
		c := &wor.Config{Epoch: e}
		for i := range n {
			c.Members = append(c.Members, wor.Member{ID: wor.ServerID(i + 1)})
		}
		return c
	}
	clock := &fakeClock{}
	s := &Space{clock: clock, random: nil, transport: mutes{}, views: []*view{{cfg: config(0, 5)}}}
	s.agenda = agenda{clock: clock, waker: env.WakeFunc(func() {})}
	s.known.init()
	told := 0
	l := &listener{
		s: s, r: wor.Range{Segment: 1, Hi: 4}, note: func(wor.Cell) { told++ }, votes: map[uint32]*votes{},
		told: make([]uint64, 1), left: 4, found: true,
	}
	l.register()
	b := wor.Ballot{Round: 1, Nonce: 1}
	l.vote(0, 2, b, []byte("x"))
	s.views[0].cfg = config(1, 3) // there is a later one still, which is being learned
	l.vote(1, 2, b, []byte("x"))
	if told != 0 {
		t.Fatal("2 of 5 servers were enough")
	}
	l.vote(2, 2, b, []byte("x"))
	if told != 1 {
		t.Fatal("3 of 5 servers were not enough")
	}
}
