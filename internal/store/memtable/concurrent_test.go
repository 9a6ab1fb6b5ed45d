// SPDX-License-Identifier: Apache-2.0

package memtable_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/memtable"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// TestReadersBesideTheWriter has one writer and several readers without locks.
// The value of each message says its key and number, and key k has the number s
// exactly when s%keys == k, so a reader knows what it must find.
func TestReadersBesideTheWriter(t *testing.T) {
	const keys, messages = 700, 20000 // keys enough for the index to grow
	m := table(t, 2<<20)
	var published atomic.Uint64
	var current atomic.Pointer[memtable.View]
	var viewLock sync.Mutex // taking a view and exchanging the current one
	name := func(k uint64) []byte { return fmt.Appendf(nil, "key %04d", k) }
	var found, walks atomic.Int64
	// pace lets the readers read before the writer continues.
	pace := func() {
		f, w := found.Load(), walks.Load()
		for found.Load() == f || walks.Load() == w {
			runtime.Gosched()
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for s := uint64(1); s <= messages; s++ {
			x := message.Message{Key: name(s % keys), Seq: message.Seq(s), Kind: message.Put}
			x.Value = strconv.AppendUint(nil, s, 10)
			if s%keys == 0 {
				x.Kind, x.Key, x.Value = message.RangeDelete, []byte("a"), []byte("z")
			}
			if !m.Append(x) {
				t.Errorf("no room for message %d", s)
				break
			}
			published.Store(s)
			if s%97 == 0 {
				viewLock.Lock()
				v, ok := m.View()
				old := current.Swap(v)
				viewLock.Unlock()
				if !ok {
					t.Error("no memory for a view")
				}
				if old != nil {
					old.Release()
				}
			}
			if s%1000 == 0 {
				pace()
			}
			if s%400 == 0 && !m.Skip((m.Pos()+4095)&^4095) {
				t.Error("no skip")
			}
		}
		published.Store(messages + 1)
	})
	for r := range 3 {
		wg.Go(func() {
			for n := uint64(r); ; n++ {
				at := published.Load()
				if at > messages {
					return
				}
				if at == 0 {
					continue
				}
				k := 1 + n*31%(keys-1)
				want := uint64(0)
				if at >= k {
					want = at - (at-k)%keys
				}
				got := uint64(0)
				p := m.Find(name(k), message.Seq(at))
				if p != memtable.None {
					x := m.At(p)
					got, _ = strconv.ParseUint(string(x.Value), 10, 64)
					if message.Seq(got) != x.Seq || !bytes.Equal(x.Key, name(k)) {
						t.Errorf("found %s for %s", show(x), name(k))
					}
					if older := m.Older(p); older != memtable.None && m.At(older).Seq != x.Seq-keys {
						t.Errorf("%d behind %d", m.At(older).Seq, x.Seq)
					}
					found.Add(1)
				}
				if got != want {
					t.Errorf("key %d at %d: number %d, want %d", k, at, got, want)
				}
				if c := m.Covering(name(k), message.Seq(at)); uint64(c) != at/keys*keys {
					t.Errorf("covered at %d by %d, want %d", at, c, at/keys*keys)
				}
				if n%64 == 0 {
					if c := m.Tombstones(message.Seq(at)); len(c) != int(at/keys) {
						t.Errorf("%d tombstones at %d, want %d", len(c), at, at/keys)
					}
				}
			}
		})
	}
	wg.Go(func() {
		for published.Load() <= messages {
			viewLock.Lock()
			v := current.Load()
			if v == nil {
				viewLock.Unlock()
				continue
			}
			it := v.Iter() // holds the view beyond the lock
			n := v.Len()
			viewLock.Unlock()
			seen, last := 0, message.Message{}
			for ok := it.First(); ok; ok = it.Next() {
				x := it.Message()
				if seen > 0 && message.Compare(last, x) >= 0 {
					t.Errorf("%s after %s", show(x), show(last))
				}
				if int(x.Seq) > n {
					t.Errorf("number %d in a view of %d", x.Seq, n)
				}
				last = x
				seen++
			}
			if seen != n {
				t.Errorf("%d messages in a view of %d", seen, n)
			}
			it.Close()
			walks.Add(1)
		}
	})
	wg.Wait()
	if v := current.Load(); v != nil {
		v.Release()
	}
}
