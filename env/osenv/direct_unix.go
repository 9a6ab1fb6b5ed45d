// SPDX-License-Identifier: Apache-2.0

//go:build unix

package osenv

import (
	"net"
	"syscall"
)

// direct writes to a socket as many bytes as the socket accepts at once. It
// never waits.
type direct struct {
	raw  syscall.RawConn
	try  func(fd uintptr) bool
	b    []byte
	took int
}

// newDirect returns nil if direct writes are impossible, as on a TLS
// connection, where the data must first become TLS records.
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

// write returns how many bytes the socket accepted. On an error it returns 0: the
// writer goroutine will get the same error. An expired deadline of an earlier
// write has the same effect.
func (d *direct) write(b []byte) int {
	d.b, d.took = b, 0
	err := d.raw.Write(d.try)
	d.b = nil
	if err != nil {
		return 0
	}
	return max(d.took, 0)
}
