// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt/host"
	"github.com/ashlar-dev/ashlar/dedalus/rt/internal/raw"
	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
)

// TestStorm: sockets of this machine that come and go, say noise or half of something,
// close one side, or read nothing, while a client and another instance are served.
func TestStorm(t *testing.T) {
	x := newLive(t, func(o *host.Options) { o.ConnsMax = 60 })
	s, outputs := x.served()
	var storm sync.WaitGroup
	stop := make(chan struct{})
	for i := range 8 {
		storm.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			var open []net.Conn
			for {
				select {
				case <-stop:
					for _, nc := range open {
						nc.Close()
					}
					return
				default:
				}
				nc, err := net.DialTimeout("tcp", string(x.near.Addr()), 5*time.Second)
				if err != nil {
					continue // there are no ports left for a moment
				}
				attack(r, nc)
				if open = append(open, nc); len(open) > 40 {
					open[0].Close()
					open = open[1:]
				}
			}
		})
	}
	stormy := func() bool {
		n := x.near.Status().Counts
		return n.TurnedAway > 100 && n.Refused > 10
	}
	for i := 0; i < 50 || i < 20_000 && !stormy(); i++ {
		s.say(batchOf(uint64(i+1), wire.AppendMessage(nil, relBack, []byte{byte(i)})))
		select {
		case got := <-outputs:
			if got != string([]byte{byte(i)}) {
				t.Fatalf("%q", got)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("output %d did not come: %+v", i, x.near.Status())
		}
	}
	close(stop)
	storm.Wait()
	if !stormy() {
		t.Errorf("no storm: %+v", x.near.Status().Counts)
	}
}

// attack says something on a connection, whatever becomes of it.
func attack(r *rand.Rand, nc net.Conn) {
	h := asClient(string([]byte{'d' + byte(r.IntN(20))}))
	h.Life = r.Uint64() | 1
	switch hello := raw.AppendHello(nil, &h); r.IntN(7) {
	case 0:
		noise := make([]byte, r.IntN(5000))
		for i := range noise {
			noise[i] = byte(r.Uint32())
		}
		_, _ = nc.Write(noise)
	case 1:
		_, _ = nc.Write(hello[:len(hello)/2])
	case 2:
		_, _ = nc.Write(hello)
		_ = nc.(*net.TCPConn).CloseWrite()
	case 3:
		_, _ = nc.Write(append(hello, batchOf(1, wire.AppendMessage(nil, relIn, make([]byte, 100)))...))
	case 4:
		long := batchOf(1, wire.AppendMessage(nil, relIn, make([]byte, 200_000)))
		_ = nc.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = nc.Write(append(hello, long[:len(long)-1]...))
	case 5:
		_, _ = nc.Write(hello)
		_ = nc.(*net.TCPConn).SetLinger(0)
		nc.Close()
	case 6: // silent
	}
}
