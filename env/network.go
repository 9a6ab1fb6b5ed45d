package env

import "errors"

// Errors of a Conn.
var (
	// ErrClosed is given to Closed, or returned, when this side closed.
	ErrClosed = errors.New("connection closed")
	// ErrFull says that a write would exceed the connection's buffer; Drained
	// follows when there is room again.
	ErrFull = errors.New("connection buffer full")
)

// Addr is a network address in the Network's own notation; osenv has
// host:port.
type Addr string

// Network connects by streams of bytes. It is safe for concurrent use.
type Network interface {
	// Listen accepts connections at addr until the Listener is closed. For
	// each, accept is called with the new connection and returns the Handler
	// of it; nil refuses and closes. Calls to accept come one at a time.
	Listen(addr Addr, accept func(Conn) Handler) (Listener, error)
	// Dial starts to connect and returns at once. The Handler is told Opened,
	// then what follows; or only Closed with the reason.
	Dial(addr Addr, h Handler) Conn
}

// Listener is an open Listen.
type Listener interface {
	// Addr is where it listens, with the port that was chosen for port 0.
	Addr() Addr
	// Close stops accepting, and returns when no call to accept is running
	// and none will follow. Accepted connections stay.
	Close() error
}

// Conn is one side of a stream connection. Bytes arrive unaltered, once, in
// order, without boundaries; how much of what was written arrived when a
// connection ends is unknown. It is safe for concurrent use.
type Conn interface {
	// Write queues all of b, or nothing and returns ErrFull or ErrClosed. It
	// does not block and does not keep b. A peer that takes nothing for the
	// network's write timeout loses the connection.
	Write(b []byte) error
	// Close ends the connection; what is queued may be lost. The Handler is
	// told Closed, not from within Close. Closing again does nothing.
	Close()
	// Local and Remote are the addresses, empty while unknown.
	Local() Addr
	Remote() Addr
}

// Handler is told what happens on a connection. The calls for one connection
// come one at a time, in this order: Opened (dialled connections only), any
// number of Data and Drained, Closed. They must not block.
type Handler interface {
	Opened(c Conn)
	// Data gives the next bytes; b is the network's after Data returns.
	Data(c Conn, b []byte)
	// Drained says that a Write that met ErrFull may be tried again.
	Drained(c Conn)
	// Closed is the last call. Err says why; it is never nil.
	Closed(c Conn, err error)
}
