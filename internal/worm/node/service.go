// SPDX-License-Identifier: Apache-2.0

package node

import (
	"slices"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// services are the additional services of a server, and the calls of them that
// are running. Server.mu guards them.
type services struct {
	by      map[wor.Service]service
	running int
}

func (n *services) busy() bool { return n.running > 0 }
func (n *services) calls() int { return n.running }

// find returns a service; false if nothing offers it.
func (n *services) find(number wor.Service) (sv service, ok bool) {
	sv, ok = n.by[number]
	return sv, ok
}

func (n *services) offer(number wor.Service, sv service) { n.by[number] = sv }
func (n *services) begin()                               { n.running++ }
func (n *services) end()                                 { n.running-- }

// service is an additional service of the server.
type service struct {
	serial  *env.Serial
	handler wor.Handler
}

// Register offers a service: its handler is called in the Serial, and may
// answer from any goroutine. It replaces an earlier handler of the service.
func (s *Server) Register(n wor.Service, serial *env.Serial, h wor.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.services.offer(n, service{serial, h})
}

// invocation is a running call of a service.
type invocation struct {
	c       *conn
	service service
	id      uint64
	bytes   int
	payload []byte
	over    bool
}

// invoke begins a call of a service. The call is made when the server's lock is
// free.
func (c *conn) invoke(frame []byte, waited waiting) error {
	s := c.s
	id, budget, n, payload, err := wire.DecodeInvoke(frame)
	if err != nil {
		return err
	}
	s.counts.Invokes++
	if n == wor.ServiceWitness {
		return c.witness(id, payload)
	}
	sv, ok := s.services.find(n)
	switch {
	case !ok:
		return c.now.Answer(id, wire.CodeUnknown, nil)
	case waited.late(budget):
		return c.now.Answer(id, wire.CodeExpired, nil)
	case c.invokes >= s.opt.InvokesMax || s.pressed(c) || s.drain.underway() || s.failed != nil:
		return c.now.Answer(id, wire.CodeBusy, nil)
	}
	c.invokes++
	s.services.begin()
	v := &invocation{c: c, service: sv, id: id, bytes: len(payload) + invocationBytes, payload: slices.Clone(payload)}
	c.bytes += v.bytes
	s.later = append(s.later, v.call)
	return nil
}

// invocationBytes is added to the payload when running invocations are counted.
const invocationBytes = 256

func (v *invocation) call() {
	v.service.serial.Do(func() {
		payload := v.payload
		v.payload = nil
		v.service.handler(payload, v.answer)
	})
}

// answer is the handler's way to answer.
func (v *invocation) answer(b []byte) {
	c := v.c
	s := c.s
	s.mu.Lock()
	defer s.unlock()
	if v.over {
		return
	}
	v.over = true
	c.invokes--
	s.services.end()
	c.bytes -= v.bytes
	if !c.closed {
		if err := c.now.Answer(v.id, wire.CodeOK, b); err != nil {
			_ = c.now.Answer(v.id, wire.CodeFailed, []byte(err.Error())) // short
		}
		c.touch()
	}
	s.drain.proceed()
}
