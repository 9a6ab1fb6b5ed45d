// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/cache"
)

// zipf draws numbers of 0..n-1 with probabilities as 1/rank^s, where the ranks
// are spread over the numbers (YCSB's generator, by Gray et al.).
type zipf struct {
	n                 int
	s, zeta, eta, two float64
}

func newZipf(n int, s float64) *zipf {
	z := &zipf{n: n, s: s, two: 1 + math.Pow(0.5, s)}
	for i := range n {
		z.zeta += 1 / math.Pow(float64(i+1), s)
	}
	z.eta = (1 - math.Pow(2/float64(n), 1-s)) / (1 - z.two/z.zeta)
	return z
}

func (z *zipf) rank(r env.Random) int {
	u := float64(r.Uint64()>>11) / (1 << 53)
	switch uz := u * z.zeta; {
	case uz < 1:
		return 0
	case uz < z.two:
		return 1
	}
	return min(int(float64(z.n)*math.Pow(z.eta*u-z.eta+1, 1/(1-z.s))), z.n-1)
}

// draw is a rank's number: a multiplication with a prime to n scatters them.
func (z *zipf) draw(r env.Random) int {
	return int(uint64(z.rank(r)) * 1_000_003 % uint64(z.n))
}

// best is the part of the draws that the m most frequent numbers get.
func (z *zipf) best(m int) float64 {
	sum := 0.0
	for i := range m {
		sum += 1 / math.Pow(float64(i+1), z.s)
	}
	return sum / z.zeta
}

// lru is the cache with which others are compared: it keeps the numbers used last.
type lru struct {
	room, n    int
	next, prev []int32 // by number; -1: not in it
	end        int32   // before the newest and after the oldest
}

func newLRU(numbers, room int) *lru {
	l := &lru{room: room, next: make([]int32, numbers+1), prev: make([]int32, numbers+1), end: int32(numbers)}
	for i := range l.next {
		l.next[i] = -1
	}
	l.next[numbers], l.prev[numbers] = l.end, l.end
	return l
}

func (l *lru) use(number int) (hit bool) {
	i := int32(number)
	if hit = l.next[i] >= 0; hit {
		l.take(i)
	} else if l.n++; l.n > l.room {
		l.n--
		oldest := l.prev[l.end]
		l.take(oldest)
		l.next[oldest] = -1
	}
	newest := l.next[l.end]
	l.next[i], l.prev[i], l.prev[newest], l.next[l.end] = newest, l.end, i, i
	return hit
}

func (l *lru) take(i int32) { l.next[l.prev[i]], l.prev[l.next[i]] = l.next[i], l.prev[i] }

// reader does what a store does for a record: it gets the record, and reads the
// block if the cache does not have it.
type reader struct {
	c        *cache.Cache
	perBlock int
	key      []byte
	record   []byte
	block    []byte
	dst      []byte
	reads    int // of blocks from the disk
}

func newReader(c *cache.Cache, perBlock, record, block int) *reader {
	return &reader{c: c, perBlock: perBlock, key: key(0), record: value(1, record), block: value(1, block), dst: make([]byte, block)}
}

func (r *reader) get(i int) {
	setKey(r.key, i)
	if _, ok := r.c.GetRecord(r.key, r.dst[:0]); !ok {
		r.fetch(i / r.perBlock)
		r.c.PutRecord(r.key, r.record, r.c.Version())
	}
}

func (r *reader) fetch(block int) {
	if _, ok := r.c.GetBlock(1, uint32(block), r.dst); !ok {
		r.reads++
		r.c.PutBlock(1, uint32(block), r.block)
	}
}

const longVariable = "ASHLAR_CACHE_LONG"

// TestZipfHits: nearly as many accesses hit as can, and more than with the
// records that were used last.
func TestZipfHits(t *testing.T) {
	for _, c := range []struct{ records, room, value, draws int }{
		{250_000, 70_000, 120, 3_000_000},
		{2_500_000, 700_000, 512, 30_000_000},
	} {
		t.Run(fmt.Sprint(c.records), func(t *testing.T) {
			if c.records > 1_000_000 && os.Getenv(longVariable) == "" {
				t.Skip("set " + longVariable + "=1: it takes a minute and 400 MB")
			}
			const header = 12
			bytes := int64(c.room) * int64((len(key(0))+c.value+header+7)&^7)
			m, _ := newCache(t, 2*bytes, bytes)
			z, l, r := newZipf(c.records, 0.99), newLRU(c.records, c.room), env.Seeded(1)
			read := newReader(m, 1, c.value, 0)
			hits, lruHits, counted := 0, 0, 0
			for i := range c.draws {
				x := z.draw(r)
				setKey(read.key, x)
				_, hit := m.GetRecord(read.key, read.dst)
				if !hit {
					m.PutRecord(read.key, read.record, m.Version())
				}
				lruHit := l.use(x)
				if i < c.draws*2/3 {
					continue
				}
				counted++
				if hit {
					hits++
				}
				if lruHit {
					lruHits++
				}
			}
			in := int(m.Metrics().Records.Entries)
			got, than, best := float64(hits)/float64(counted), float64(lruHits)/float64(counted), z.best(c.room)
			t.Logf("%.2f %% of %d accesses hit, %d records are in %d bytes; with the %d used last %.2f %%, with the %d most used %.2f %%",
				100*got, counted, in, bytes, c.room, 100*than, c.room, 100*best)
			if got < than || got < best-0.03 {
				t.Errorf("%.4f hit; want more than %.4f, and nearly %.4f", got, than, best)
			}
		})
	}
}

// TestScansHarmNothing: records that are used stay when a hundred times as many
// pass by once, and so do blocks.
func TestScansHarmNothing(t *testing.T) {
	c, _ := newCache(t, 16<<20, 8<<20)
	const hot = 400
	r := newReader(c, 1, 500, 4096)
	for range 5 {
		for i := range hot {
			r.get(i)
			r.fetch(i)
		}
	}
	before := c.Metrics()
	for i := 1_000_000; i < 1_000_000+100*hot; i++ {
		r.get(i)
	}
	there, blocks := 0, 0
	for i := range hot {
		setKey(r.key, i)
		if _, ok := c.GetRecord(r.key, nil); ok {
			there++
		}
		if _, ok := c.GetBlock(1, uint32(i), r.dst); ok {
			blocks++
		}
	}
	if there < hot*98/100 || blocks < hot*98/100 {
		t.Errorf("%d records and %d blocks of %d are left after a scan", there, blocks, hot)
	}
	if m := c.Metrics(); m.Records.Evictions == 0 || m.Blocks.Evictions == 0 || before.Records.Hits == m.Records.Hits {
		t.Errorf("the scan has evicted nothing: %+v", m)
	}
}

// TestTheBorderMoves: to the records when single ones are read all over, to the
// blocks when it is their neighbours that are read next; each time there are
// fewer reads from the disk than with the border where it started.
func TestTheBorderMoves(t *testing.T) {
	const perBlock, budget = 7, 8 << 20
	z := newZipf(60_000, 0.99)
	points := func(r *reader, rnd env.Random) { r.get(z.draw(rnd)) }
	ranges := func(r *reader, rnd env.Random) {
		first := z.draw(rnd) / perBlock
		for b := first; b < first+3; b++ {
			r.fetch(b)
		}
		if env.IntN(rnd, 20) == 0 {
			r.get(env.IntN(rnd, 60_000))
		}
	}
	c, _ := newCache(t, 2*budget, budget)
	r, rnd := newReader(c, perBlock, 512, 4096), env.Seeded(1)
	for round, x := range []struct {
		name   string
		do     func(*reader, env.Random)
		lo, hi float64
	}{{"points", points, 0.75, 0.95}, {"ranges", ranges, 0.05, 0.35}, {"points again", points, 0.75, 0.95}} {
		for range 600_000 >> min(round%2, 1) {
			x.do(r, rnd)
		}
		m := c.Metrics()
		part := float64(m.Records.Pieces) / float64(m.Records.Pieces+m.Blocks.Pieces)
		t.Logf("%s: border %.2f, records have %.2f", x.name, m.Border, part)
		if m.Border < x.lo-0.001 || m.Border > x.hi+0.001 || math.Abs(part-m.Border) > 0.1 {
			t.Errorf("%s: border %.2f, records have %.2f; want %.2f to %.2f", x.name, m.Border, part, x.lo, x.hi)
		}
	}
}

// setKey changes the number in a key.
func setKey(k []byte, n int) {
	for j := len(k) - 1; j >= 4; j, n = j-1, n/10 {
		k[j] = byte('0' + n%10)
	}
}
