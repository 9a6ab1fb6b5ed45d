// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/worm/paxos"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// BenchmarkWrite measures the write of a captured register: one round trip to three
// servers, of which two must answer, all in this process over loopback.
func BenchmarkWrite(b *testing.B) {
	for _, durable := range []bool{false, true} {
		for _, outstanding := range []int{1, 16, 64, 256} {
			mode, dir := "memory", ""
			if durable {
				mode = "durable"
			}
			b.Run(fmt.Sprintf("%s/%d", mode, outstanding), func(b *testing.B) {
				if durable {
					dir = b.TempDir()
				}
				benchmarkWrite(b, dir, outstanding)
			})
		}
	}
}

func benchmarkWrite(b *testing.B, dir string, outstanding int) {
	c := newCluster(b, 3, dir, nil)
	k := c.client(7)
	ballot := wor.Ballot{Round: 1, Nonce: 7}
	const chunk = 1 << 15
	for lo := 0; lo < b.N; lo += chunk {
		k.wait(b, paxos.Client{}.Capture(3, wor.Range{Segment: wor.Segment(1 + lo/chunk), Lo: 0, Hi: chunk}, ballot))
	}
	value := []byte("12345678")
	over := make(chan struct{})
	next, ended := 0, 0
	var begin func()
	end := func(m wor.Machine) {
		if r := m.Result(); len(r) != 1 || r[0].Status != wor.StatusOK {
			panic(fmt.Sprint(r))
		}
		if ended++; ended == b.N {
			close(over)
			return
		}
		begin()
	}
	begin = func() {
		if next < b.N {
			i := next
			next++
			r := wor.One(addr(1+i/chunk, i%chunk))
			k.do(paxos.Client{}.Write(3, r, ballot, value), end)
		}
	}
	b.ReportAllocs()
	before := cpuTime()
	b.ResetTimer()
	k.serial.Do(func() {
		for range outstanding {
			begin()
		}
	})
	<-over
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
	b.ReportMetric(float64((cpuTime()-before).Microseconds())/float64(b.N), "cpu-us/op")
}
