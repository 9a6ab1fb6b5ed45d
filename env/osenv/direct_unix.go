// SPDX-License-Identifier: Apache-2.0

//go:build unix

package osenv

import (
	"net"
	"syscall"
)

// direct writes to a socket what it takes at once. It never waits.
type direct struct {
	raw  syscall.RawConn
	try  func(fd uintptr) bool
	b    []byte
	took int
}

// newDirect answers nil where that cannot be: TLS makes records of its own.
func newDirect(nc net.Conn) *direct {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	d := &direct{raw: raw}
	d.try = func(fd uintptr) bool {
		d.took, _ = syscall.Write(int(fd), d.b)
		return true // rather than wait
	}
	return d
}

// write says how much the socket took. Errors it leaves to the writer, which meets
// them again; so it does when the deadline that the writer has set last is over.
func (d *direct) write(b []byte) int {
	d.b, d.took = b, 0
	err := d.raw.Write(d.try)
	d.b = nil
	if err != nil {
		return 0
	}
	return max(d.took, 0)
}
