// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"time"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// port is the Engine's access to the registers and to other processes until the
// port is closed. Requests made before that may still take effect, but the port
// drops their results. After that, it neither makes nor answers requests.
type port struct {
	space     wor.Space
	messenger wor.Messenger
	shut      bool
	stops     map[int]func() // the stop functions of its subscriptions
	last      int
}

var (
	_ wor.Space     = (*port)(nil)
	_ wor.Messenger = (*port)(nil)
)

// close closes the port.
func (o *port) close() {
	o.shut = true
	for i := range o.last + 1 { // in order
		if stop := o.stops[i]; stop != nil {
			stop()
		}
	}
	clear(o.stops)
}

// unless1 returns a function that calls done unless the port is closed.
func unless1[A any](o *port, done func(A)) func(A) {
	return func(a A) {
		if !o.shut {
			done(a)
		}
	}
}

func unless2[A, B any](o *port, done func(A, B)) func(A, B) {
	return func(a A, b B) {
		if !o.shut {
			done(a, b)
		}
	}
}

// Alloc implements wor.Space, and so do the following methods.
func (o *port) Alloc(s wor.Segment, m wor.Meta, within time.Duration, done func(wor.Meta, error)) {
	if !o.shut {
		o.space.Alloc(s, m, within, unless2(o, done))
	}
}

func (o *port) Stat(s wor.Segment, within time.Duration, done func(wor.Meta, error)) {
	if !o.shut {
		o.space.Stat(s, within, unless2(o, done))
	}
}

func (o *port) Trim(s wor.Segment, within time.Duration, done func(error)) {
	if !o.shut {
		o.space.Trim(s, within, unless1(o, done))
	}
}

func (o *port) Capture(r wor.Range, within time.Duration, done func(*wor.Token, error)) {
	if !o.shut {
		o.space.Capture(r, within, unless2(o, done))
	}
}

func (o *port) Write(t *wor.Token, offset uint32, value []byte, within time.Duration, done func(error)) {
	if !o.shut {
		o.space.Write(t, offset, value, within, unless1(o, done))
	}
}

func (o *port) WriteRange(t *wor.Token, r wor.Range, value []byte, within time.Duration, done func([]error)) {
	if !o.shut {
		o.space.WriteRange(t, r, value, within, unless1(o, done))
	}
}

func (o *port) Propose(a wor.Addr, value []byte, within time.Duration, done func(error)) {
	if !o.shut {
		o.space.Propose(a, value, within, unless1(o, done))
	}
}

func (o *port) WriteUnsafe(a wor.Addr, value []byte, within time.Duration, done func(error)) {
	if !o.shut {
		o.space.WriteUnsafe(a, value, within, unless1(o, done))
	}
}

func (o *port) Read(a wor.Addr, within time.Duration, done func([]byte, error)) {
	if !o.shut {
		o.space.Read(a, within, unless2(o, done))
	}
}

func (o *port) ReadRange(r wor.Range, within time.Duration, done func([]wor.Cell, error)) {
	if !o.shut {
		o.space.ReadRange(r, within, unless2(o, done))
	}
}

func (o *port) Known(a wor.Addr) ([]byte, bool) { return o.space.Known(a) }

func (o *port) Listen(r wor.Range, note func(wor.Cell)) (stop func()) {
	if o.shut {
		return func() {}
	}
	o.last++
	i := o.last
	end := o.space.Listen(r, unless1(o, note))
	o.stops[i] = end
	return func() {
		delete(o.stops, i)
		end()
	}
}

func (o *port) Nonce() uint64 { return o.space.Nonce() }

// Invoke implements wor.Messenger.
func (o *port) Invoke(to wor.Member, s wor.Service, payload []byte, within time.Duration, done func([]byte, error)) {
	if o.shut {
		return
	}
	if done != nil {
		done = unless2(o, done)
	}
	o.messenger.Invoke(to, s, payload, within, done)
}
