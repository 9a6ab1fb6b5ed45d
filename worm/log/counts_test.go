// SPDX-License-Identifier: Apache-2.0

package log_test

import (
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// serve makes a process a server that may be elected.
func serve(t testing.TB, p *ideal.Process, size uint32) *log.Sequencer {
	return serveOn(t, p, p.Space, size)
}

func serveOn(t testing.TB, p *ideal.Process, space wor.Space, size uint32) *log.Sequencer {
	s, err := log.NewSequencer(log.SequencerOptions{
		Space: space, Clock: p.Env.Clock, Random: p.Env.Random, Serial: p.Serial, Member: p.Member, Size: size,
		Timeout: 200 * time.Millisecond,
		Place:   func(_ log.ID, index uint32) (wor.Partition, wor.Protocol) { return wor.Partition(index % 2), wor.Paxos },
	})
	if err != nil {
		t.Fatal(err)
	}
	handed := map[wor.Addr]bool{}
	p.Serve(wor.ServiceSequencer, func(payload []byte, answer func([]byte)) {
		s.Handle(payload, func(b []byte) {
			r, _ := log.Handed(7, b)
			for off := r.Lo; off < r.Hi; off++ {
				a := wor.Addr{Segment: r.Segment, Offset: off}
				if handed[a] {
					t.Errorf("register %v is handed out twice", a)
				}
				handed[a] = true
			}
			answer(b)
		})
	})
	return s
}

func open(t testing.TB, p *ideal.Process, servers []wor.Member, change func(*log.Options)) *log.Log {
	o := log.Options{
		Space: p.Space, Messenger: p.Messenger, Clock: p.Env.Clock, Random: p.Env.Random, Serial: p.Serial,
		ID: 7, Servers: servers,
	}
	if change != nil {
		change(&o)
	}
	l, err := log.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestRoundTrips counts the round trips of an append: one request and one write; with
// prefetching, one write.
func TestRoundTrips(t *testing.T) {
	for _, prefetch := range []uint32{0, 100} {
		const unit = time.Millisecond
		w := ideal.New(ideal.Options{Fixed: unit})
		server := w.Start("server")
		serve(t, server, 1024)
		client := w.Start("client")
		l := open(t, client, []wor.Member{server.Member}, func(o *log.Options) { o.Prefetch = prefetch })
		append1 := func(text string) time.Duration {
			begin, done := w.Now(), false
			client.Serial.Do(func() {
				l.Append(log.Entry{Data: []byte(text)}, 0, func(_ log.Position, err error) {
					if err != nil {
						t.Fatal(err)
					}
					done = true
				})
			})
			if !w.RunUntil(time.Minute, func() bool { return done }) {
				t.Fatal("it does not end")
			}
			return w.Now().Sub(begin)
		}
		append1("first")
		w.Run(time.Second)
		before := client.Space.Count
		const appends = 20
		for range appends {
			want := 4 * unit
			if prefetch > 0 {
				want = 2 * unit
			}
			if took := append1("more"); took != want {
				t.Fatalf("prefetch %d: an append takes %v, want %v", prefetch, took, want)
			}
		}
		after := client.Space.Count
		want := before
		want.Writes += appends
		if prefetch == 0 {
			want.Invokes += appends
		}
		if after != want {
			t.Fatalf("prefetch %d: operations %+v, want %+v", prefetch, after, want)
		}
	}
}
