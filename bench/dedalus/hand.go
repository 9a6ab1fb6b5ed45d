// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"sync"

	"github.com/ashlar-dev/ashlar/bench/process"
)

// Voting as one would write it by hand in Go, with what the runtime of compiled
// programs has left out: no acknowledgements, nothing sent again, no limits, no
// bookkeeping of connections. It says how far there is to go.

// handJob is the job of one of its processes.
type handJob struct {
	Listen       string
	Participants []string
	Self         byte
}

// handLeader sends each command to all participants and answers when all have voted.
func handLeader(port *process.Port) error {
	var job handJob
	if ok, err := port.Take(&job); !ok || err != nil {
		return err
	}
	l := &handState{votes: map[vote]uint64{}, clients: map[uint32]*wire{}, all: 1<<len(job.Participants) - 1}
	for _, a := range job.Participants {
		conn, err := net.Dial("tcp", a)
		if err != nil {
			return err
		}
		defer conn.Close()
		w := newWire(conn)
		l.participants = append(l.participants, w)
		go l.fromParticipant(w)
	}
	return accept(port, job.Listen, func(w *wire) { l.fromClient(w) })
}

// handState is the leader's.
type handState struct {
	mu           sync.Mutex
	votes        map[vote]uint64
	clients      map[uint32]*wire
	participants []*wire
	all          uint64
}

type vote struct {
	client uint32
	id     uint64
}

func (l *handState) fromClient(w *wire) {
	l.mu.Lock()
	n := uint32(len(l.clients))
	l.clients[n] = w
	l.mu.Unlock()
	client := binary.BigEndian.AppendUint32(nil, n)
	var buf []byte
	for {
		b, err := w.read(buf)
		if err != nil {
			return
		}
		buf = b
		for _, p := range l.participants {
			p.write(client, b)
		}
		if w.drained() {
			for _, p := range l.participants {
				if p.flush() != nil {
					return
				}
			}
		}
	}
}

func (l *handState) fromParticipant(w *wire) {
	var buf []byte
	busy := map[*wire]bool{}
	for {
		b, err := w.read(buf)
		if err != nil || len(b) < 13 {
			return
		}
		buf = b
		v := vote{binary.BigEndian.Uint32(b[1:]), binary.BigEndian.Uint64(b[5:])}
		l.mu.Lock()
		l.votes[v] |= 1 << b[0]
		done := l.votes[v] == l.all
		if done {
			delete(l.votes, v)
		}
		to := l.clients[v.client]
		l.mu.Unlock()
		if done {
			to.write(b[5:])
			busy[to] = true
		}
		if w.drained() {
			for to := range busy {
				// A client that has disconnected gets no reply.
				_ = to.flush()
			}
			clear(busy)
		}
	}
}

// handParticipant votes for everything.
func handParticipant(port *process.Port) error {
	var job handJob
	if ok, err := port.Take(&job); !ok || err != nil {
		return err
	}
	self := []byte{job.Self}
	return accept(port, job.Listen, func(w *wire) {
		var buf []byte
		for {
			b, err := w.read(buf)
			if err != nil {
				return
			}
			buf = b
			w.write(self, b)
			if w.drained() && w.flush() != nil {
				return
			}
		}
	})
}

// accept listens and serves connections until the parent ends.
func accept(port *process.Port, at string, serve func(*wire)) error {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(newWire(c))
		}
	}()
	if err := port.Say("listening"); err != nil {
		return err
	}
	var none struct{}
	_, err = port.Take(&none)
	_ = l.Close()
	return err
}
