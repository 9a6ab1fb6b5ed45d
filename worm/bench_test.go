// SPDX-License-Identifier: Apache-2.0

package worm_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// BenchmarkWrite writes registers of a captured segment on three servers in
// memory, with so many writers on one client.
func BenchmarkWrite(b *testing.B) {
	for _, writers := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprint("writers=", writers), func(b *testing.B) {
			g, _ := cluster(b, 3, true)
			c, err := worm.Open(worm.Options{Genesis: g})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			ctx := context.Background()
			if _, err := c.Alloc(ctx, 1, wor.Meta{Owner: 1, Size: wor.SegmentMax}); err != nil {
				b.Fatal(err)
			}
			var at atomic.Uint32
			var mu sync.Mutex
			var token *wor.Token
			claim := func(off uint32) *wor.Token {
				mu.Lock()
				defer mu.Unlock()
				if token == nil || off >= token.Range.Hi {
					if token, err = c.Capture(ctx, wor.Range{Segment: 1, Lo: off, Hi: min(off+wor.RangeMax, wor.SegmentMax)}); err != nil {
						b.Error(err)
					}
				}
				if off < token.Range.Lo { // the previous token
					return nil
				}
				return token
			}
			b.ResetTimer()
			var wait sync.WaitGroup
			for range writers {
				wait.Go(func() {
					for i := at.Add(1) - 1; int(i) < b.N; i = at.Add(1) - 1 {
						if t := claim(i); t != nil {
							if err := c.Write(ctx, t, i, []byte("12345678")); err != nil {
								b.Error(err)
							}
						}
					}
				})
			}
			wait.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
		})
	}
}
