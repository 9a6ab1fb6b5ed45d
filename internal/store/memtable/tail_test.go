// SPDX-License-Identifier: Apache-2.0

package memtable

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// TestTail: from every moment on, the tail has the messages that came after it, past
// gaps of all kinds, with views taken between.
func TestTail(t *testing.T) {
	for seed := range int64(30) {
		r := rand.New(rand.NewSource(seed))
		pool := slab.New(16 << 20)
		table, ok := New(make([]byte, 64<<10), pool, 64)
		if !ok {
			t.Fatal("no table")
		}
		var moments []int // Pos after so many messages
		var after []message.Seq
		note := func() {
			moments, after = append(moments, table.Pos()), append(after, table.MaxSeq())
		}
		note()
		for seq := message.Seq(1); seq < 200; seq++ {
			for range r.Intn(3) * r.Intn(2) {
				if !table.Skip(table.Pos() + 8*(1+r.Intn(20))) {
					t.Fatal("no room")
				}
				note()
			}
			kind := message.Put
			if r.Intn(10) == 0 {
				kind = message.RangeDelete
			}
			table.Append(message.Message{Key: fmt.Appendf(nil, "%d", r.Intn(30)), Value: []byte("999"), Seq: seq, Kind: kind})
			note()
			if r.Intn(20) == 0 {
				v, ok := table.View()
				if !ok || v.Len() != int(seq) {
					t.Fatalf("seed %d: a view of %d messages, want %d", seed, v.Len(), seq)
				}
				v.Release()
			}
		}
		last := table.MaxSeq()
		for i, from := range moments {
			tail := table.Tail(from)
			want := after[i]
			for m, ok := tail.Next(); ok; m, ok = tail.Next() {
				if want++; m.Seq != want {
					t.Fatalf("seed %d: from %d: number %d, want %d", seed, from, m.Seq, want)
				}
			}
			if want != last || tail.Bytes() > 0 {
				t.Fatalf("seed %d: from %d: ends at number %d of %d, %d bytes left", seed, from, want, last, tail.Bytes())
			}
		}
		table.Close()
		pool.Close()
	}
}
