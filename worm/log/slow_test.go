// SPDX-License-Identifier: Apache-2.0

package log_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestSlowMachines appends while each message takes up to seconds, with the time limits
// of production: longer than clients wait for a sequencer, and longer than an operation
// on the registers may take at first. Appends continue, even when the sequencer dies.
func TestSlowMachines(t *testing.T) {
	for _, delay := range []time.Duration{100 * time.Millisecond, 400 * time.Millisecond, time.Second, 3 * time.Second} {
		t.Run(delay.String(), func(t *testing.T) {
			b := &bench{t: t, w: ideal.New(ideal.Options{Seed: 1, DelayMin: delay / 2, DelayMax: 3 * delay / 2})}
			for i := range 3 {
				p := b.w.Start(fmt.Sprint("server", i))
				s, err := log.NewSequencer(log.SequencerOptions{Space: p.Space, Clock: p.Env.Clock, Random: p.Env.Random, Serial: p.Serial, Member: p.Member})
				if err != nil {
					t.Fatal(err)
				}
				p.Serve(wor.ServiceSequencer, s.Handle)
				b.servers, b.members, b.thrones = append(b.servers, p), append(b.members, p.Member), append(b.thrones, s)
			}
			b.p, b.l = b.client("client", nil)
			n := 0
			round := func(bound time.Duration) {
				t.Helper()
				began := b.w.Now()
				for range 5 {
					n++
					b.append(fmt.Sprint(n))
				}
				took := b.w.Now().Sub(began)
				t.Logf("five appends take %v, %.0f delays", took, float64(took)/float64(delay))
				if took > bound {
					t.Errorf("five appends take %v, want %v", took, bound)
				}
			}
			round(120 * delay)
			round(60 * delay)
			for i, s := range b.thrones {
				if _, serving := s.Serving(7); serving {
					b.servers[i].Kill()
				}
			}
			round(10*time.Second + 120*delay)
			round(60 * delay)
		})
	}
}
