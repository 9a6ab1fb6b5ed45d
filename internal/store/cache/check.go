// SPDX-License-Identifier: Apache-2.0

package cache

import "fmt"

// Check examines the whole cache and returns an error if it is inconsistent. It
// is for tests.
func (c *Cache) Check() error {
	total := 0
	l := c.layout.Load()
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		err := s.check()
		total += s.tenants[records].live
		s.mu.Unlock()
		if err != nil {
			return fmt.Errorf("shard %d: %w", i, err)
		}
	}
	if n := c.records.Load(); n < int64(total) {
		return fmt.Errorf("counted %d records, found %d", n, total)
	}
	return nil
}

func (s *shard) check() error {
	in := len(s.free) + len(s.vacant)
	branches := map[uint64]int{}
	for k := range s.tenants {
		t := &s.tenants[k]
		in += t.pieces()
		live, bytes, spilt := 0, int64(0), map[uint32]byte{}
		var lost error
		s.each(kind(k), func(place uint32, e entry) bool {
			live, bytes = live+1, bytes+int64(e.size())
			slot, found := s.lookup(kind(k), e.hash(), e.key())
			if slot == none || &found[0] != &e[0] {
				lost = fmt.Errorf("tenant %d: a lookup does not find the entry at %d", k, place)
			}
			if home := t.index.home(e.hash()); slot>>4 != home {
				spilt[home]++
			}
			if kind(k) == blocks {
				branches[branchOf(e)]++
			}
			return true
		}, true)
		for b := range len(t.index.mem) / bucketSize {
			if n := t.index.mem[b*bucketSize+spillAt]; n != spilt[uint32(b)] {
				lost = fmt.Errorf("tenant %d: found %d entries of bucket %d in its neighbours, counted %d", k, spilt[uint32(b)], b, n)
			}
		}
		switch {
		case lost != nil:
			return lost
		case live != t.live || bytes != t.bytes || live != t.index.used:
			return fmt.Errorf("tenant %d: found %d entries of %d bytes; counted %d of %d, indexed %d", k, live, bytes, t.live, t.bytes, t.index.used)
		}
	}
	if in != len(s.pieces) || s.held+len(s.vacant) != len(s.pieces) {
		return fmt.Errorf("%d of %d pieces are somewhere, %d have memory, %d have none", in, len(s.pieces), s.held, len(s.vacant))
	}
	if len(branches) != len(s.branches) {
		return fmt.Errorf("found blocks of %d branches, counted %d", len(branches), len(s.branches))
	}
	for b, n := range branches {
		if s.branches[b] != n {
			return fmt.Errorf("branch %d: found %d blocks, counted %d", b, n, s.branches[b])
		}
	}
	return nil
}
