// SPDX-License-Identifier: Apache-2.0

package env

import "errors"

// The errors of a Conn.
var (
	// ErrClosed is passed to Closed, or returned, after this side closed the
	// connection.
	ErrClosed = errors.New("connection closed")
	// ErrFull reports that a write would exceed the connection's buffer;
	// Drained follows when there is room again.
	ErrFull = errors.New("connection buffer full")
)

// Addr is a network address in the Network's own notation; osenv uses
// host:port.
type Addr string

// Network connects programs by byte streams. It is safe for concurrent use.
type Network interface {
	// Listen accepts connections at addr until the Listener is closed. For each
	// connection it calls accept, which returns the connection's Handler; nil
	// refuses and closes the connection. Calls to accept come one at a time.
	Listen(addr Addr, accept func(Conn) Handler) (Listener, error)
	// Dial starts to connect and returns at once. It calls Opened of the
	// Handler on success and then the methods for what follows, or only Closed
	// with the reason.
	Dial(addr Addr, h Handler) Conn
}

// Listener is an open Listen.
type Listener interface {
	// Addr is the address at which it listens, with the chosen port if port 0
	// was requested.
	Addr() Addr
	// Close stops accepting. When it returns, no call to accept is running and
	// none will follow. Accepted connections stay open.
	Close() error
}

// Conn is one side of a stream connection. Bytes arrive unaltered, once, in
// order, without boundaries; when a connection ends, it is unknown how many of
// the written bytes arrived. It is safe for concurrent use.
type Conn interface {
	// Write queues all of b, or nothing and returns ErrFull or ErrClosed. It
	// does not block and does not retain b. A peer that reads nothing for the
	// network's write timeout loses the connection.
	Write(b []byte) error
	// Close ends the connection; queued bytes may be lost. Closed of the
	// Handler follows, but not from within Close. Closing again does nothing.
	Close()
	// Local and Remote are the addresses, empty while unknown.
	Local() Addr
	Remote() Addr
}

// Handler receives the events of a connection. The calls for one connection
// come one at a time, in this order: Opened (dialled connections only), any
// number of Data and Drained, Closed. They must not block.
type Handler interface {
	Opened(c Conn)
	// Data delivers the next bytes; b belongs to the network again after Data
	// returns.
	Data(c Conn, b []byte)
	// Drained reports that a Write refused with ErrFull may be tried again.
	Drained(c Conn)
	// Closed is the last call. Err is the reason; it is never nil.
	Closed(c Conn, err error)
}
