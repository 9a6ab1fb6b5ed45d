// SPDX-License-Identifier: Apache-2.0

package link

import (
	"encoding/binary"
	"errors"
	"net"
	"testing"
	"time"
)

// TestCountsAreBounded: a number in a frame that stands for so many things is
// not believed beyond its limit.
func TestCountsAreBounded(t *testing.T) {
	const limit = 10
	for _, n := range []uint64{0, limit, limit + 1, 1 << 31, 1 << 40, 1<<64 - 1} {
		r := NewReader("test", binary.AppendUvarint(nil, n))
		got := r.Count("things", limit)
		if fits := n <= limit; (r.Err == nil) != fits || fits && got != int(n) || !fits && got != 0 {
			t.Errorf("count %d of at most %d is %d, %v", n, limit, got, r.Err)
		}
	}
}

// TestAStrangerSendsNoLongFrame: a stranger that announces a frame longer than a
// hello, before it has said who it is, is disconnected at once.
func TestAStrangerSendsNoLongFrame(t *testing.T) {
	_, _, server := pair(t, func(so, _ *Options) { so.PingAfter, so.HelloWithin = 30*time.Second, 60*time.Second })
	nc, err := net.Dial("tcp", string(server.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := nc.Write(binary.LittleEndian.AppendUint64(nil, HandshakeMax+1|1<<32|1<<40)); err != nil {
		t.Fatal(err)
	}
	for buf := make([]byte, 1024); ; {
		if _, err := nc.Read(buf); err != nil {
			if ne := net.Error(nil); errors.As(err, &ne) && ne.Timeout() {
				t.Error("the server waits for the rest")
			}
			return
		}
	}
}

// TestHostsMakeRoomForOthers: where too many connections shake hands, one of the host
// that has most of them ends, though that of another host is older and as silent.
func TestHostsMakeRoomForOthers(t *testing.T) {
	const handshakes, strangers = 4, 12
	peers, _, server := pair(t, func(so, _ *Options) {
		so.PingAfter, so.HelloWithin, so.StrangersMax = 30*time.Second, 60*time.Second, handshakes
	})
	// The client of the pair is on this host too: it shakes hands no more.
	waitFor(t, "the client", func() bool {
		peers.mu.Lock()
		defer peers.mu.Unlock()
		return len(peers.peers) == 1
	})
	ended := make(chan string)
	over := make(chan struct{})
	defer close(over)
	from := func(host string) {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(host)}}
		nc, err := d.Dial("tcp", string(server.Addr()))
		if err != nil {
			t.Skipf("no connection from %s to itself here: %v", host, err)
		}
		t.Cleanup(func() { nc.Close() })
		go func() {
			for b := make([]byte, 1024); ; {
				if _, err := nc.Read(b); err != nil {
					break
				}
			}
			select {
			case ended <- host:
			case <-over:
			}
		}()
	}
	from("127.0.0.1")
	for range strangers {
		from("127.0.0.2")
	}
	for range strangers + 1 - handshakes {
		select {
		case host := <-ended:
			if host != "127.0.0.2" {
				t.Fatalf("the connection from %s ended, and there are more from 127.0.0.2", host)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("too many connections shake hands")
		}
	}
}

// TestNothingIsBelieved: a length costs no memory before its bytes arrive, and
// the memory of a long frame is freed. After an error nothing is kept.
func TestNothingIsBelieved(t *testing.T) {
	long := Seal(append(Begin(nil, Service), make([]byte, 1<<20)...), 0)
	s := Scanner{Max: 2 << 20}
	for i := 0; i < len(long); i += 1000 {
		s.Feed(append([]byte(nil), long[i:min(i+1000, len(long))]...))
		_, ok, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		if have := min(i+1000, len(long)); !ok && cap(s.rest) > 2*have+1000 {
			t.Fatalf("%d bytes have come, and %d are taken for them", have, cap(s.rest))
		}
	}
	if _, ok, err := s.Next(); ok || err != nil || cap(s.rest) > keepMax {
		t.Errorf("afterwards: %v, %v, %d bytes", ok, err, cap(s.rest))
	}
	for range 10 {
		s.Feed([]byte("no frame at all"))
		if _, _, err := s.Next(); err == nil || cap(s.rest)+cap(s.in) > 0 {
			t.Errorf("%v, and %d bytes are kept", err, cap(s.rest)+cap(s.in))
		}
	}
}
