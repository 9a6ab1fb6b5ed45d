// SPDX-License-Identifier: Apache-2.0

package env

import "errors"

// PacketMax is the length of the longest packet, in bytes.
const PacketMax = 60 << 10

// ErrTooLong is returned for a packet of more than PacketMax bytes.
var ErrTooLong = errors.New("packet too long")

// Packets carries packets of bytes: each arrives unaltered, once, more than
// once, or never, in any order. It is safe for concurrent use.
type Packets interface {
	// Bind receives at addr until the Port is closed. The calls to receive come
	// one at a time and must not block; b belongs to the network again when
	// receive returns. For port 0, Bind chooses one.
	Bind(addr Addr, receive func(from Addr, b []byte)) (Port, error)
}

// Port is an open Bind.
type Port interface {
	// Addr is the address to which others send and which they see as the
	// sender.
	Addr() Addr
	// Send sends b to a Port at another address. It does not block and does not
	// retain b. It is no error if there is no such Port.
	Send(to Addr, b []byte) error
	// Close returns when no call to receive is running and none will follow. It
	// must not be called from receive.
	Close() error
}
