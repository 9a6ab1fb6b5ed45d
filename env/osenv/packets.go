// SPDX-License-Identifier: Apache-2.0

package osenv

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/ashlar-dev/ashlar/env"
)

// Packets is UDP. Addresses are host:port with a numeric host. Binding to an
// address without a host means the loopback interface: other interfaces must be
// named.
type Packets struct{}

var _ env.Packets = Packets{}

// Bind receives at host:port.
func (Packets) Bind(addr env.Addr, receive func(from env.Addr, b []byte)) (env.Port, error) {
	host, port, err := net.SplitHostPort(string(addr))
	if err != nil {
		return nil, fmt.Errorf("bind: %w", err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	at, err := net.ResolveUDPAddr("udp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("bind: %w", err)
	}
	c, err := net.ListenUDP("udp", at)
	if err != nil {
		return nil, err // names the operation and the address
	}
	p := &udpPort{c: c, done: make(chan struct{})}
	go p.loop(receive)
	return p, nil
}

type udpPort struct {
	c    *net.UDPConn
	done chan struct{} // closed when the loop has ended
}

func (p *udpPort) loop(receive func(env.Addr, []byte)) {
	defer close(p.done)
	buf := make([]byte, env.PacketMax+1)
	for {
		n, from, err := p.c.ReadFromUDPAddrPort(buf)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err == nil && n <= env.PacketMax: // an error is of a packet that was sent, and is lost
			receive(env.Addr(netip.AddrPortFrom(from.Addr().Unmap(), from.Port()).String()), buf[:n])
		}
	}
}

// Addr implements Port.
func (p *udpPort) Addr() env.Addr { return env.Addr(p.c.LocalAddr().String()) }

// Send implements Port. If the system has no room for a packet, the packet is
// lost.
func (p *udpPort) Send(to env.Addr, b []byte) error {
	if len(b) > env.PacketMax {
		return fmt.Errorf("send %s: %d bytes: %w", to, len(b), env.ErrTooLong)
	}
	at, err := netip.ParseAddrPort(string(to))
	if err != nil {
		return fmt.Errorf("send: %w", err)
	}
	if _, err := p.c.WriteToUDPAddrPort(b, at); errors.Is(err, net.ErrClosed) {
		return env.ErrClosed
	}
	return nil
}

// Close implements Port.
func (p *udpPort) Close() error {
	err := p.c.Close()
	<-p.done
	return err
}
