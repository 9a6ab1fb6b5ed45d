// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
)

// appendix is a merger whose operands are appended to the value.
type appendix struct{}

func (appendix) Name() string { return "appendix" }

func (appendix) Combine(dst, _, older, newer []byte) []byte {
	return append(append(dst, older...), newer...)
}

func (appendix) Apply(dst, _, value []byte, _ bool, operand []byte) []byte {
	return append(append(dst, value...), operand...)
}

// pair is a key with its value, in an array that is sorted by key: the oracle.
type pair struct{ key, value string }

// sorted is the array of a map.
func sorted(m map[string]string) []pair {
	var all []pair
	for k, v := range m {
		all = append(all, pair{k, v})
	}
	slices.SortFunc(all, func(a, b pair) int { return strings.Compare(a.key, b.key) })
	return all
}

// cursor is an iterator and its expected position: a part of the array, and an
// index from -1, before the first key, to the length.
type cursor struct {
	it   *Iterator
	o    IterOptions
	all  []pair // at the moment of the iterator
	part []pair // within the bounds
	at   int
	new  bool // at no key, in the middle of nothing
}

func (c *cursor) bound(lo, hi []byte, prefix string) {
	c.part = nil
	for _, p := range c.all {
		if p.key >= string(lo) && (hi == nil || p.key < string(hi)) && strings.HasPrefix(p.key, prefix) {
			c.part = append(c.part, p)
		}
	}
	c.new = true
}

// move makes a random move of both, and compares where they are.
func (c *cursor) move(t *testing.T, r *rand.Rand) {
	t.Helper()
	key := randomKey(r)
	forward := !c.o.Reverse
	var ok bool
	what := r.Intn(8)
	switch what {
	case 0:
		ok, c.at = c.it.First(), 0
		if !forward {
			c.at = len(c.part) - 1
		}
	case 1:
		ok, c.at = c.it.Last(), len(c.part)-1
		if !forward {
			c.at = 0
		}
	case 2:
		ok = c.it.SeekGE([]byte(key))
		c.at = slices.IndexFunc(c.part, func(p pair) bool { return p.key >= key })
		if c.at < 0 {
			c.at = len(c.part)
		}
	case 3:
		ok, c.at = c.it.SeekLT([]byte(key)), -1
		for c.at+1 < len(c.part) && c.part[c.at+1].key < key {
			c.at++
		}
	default:
		up := what&1 == 0
		if up == forward {
			ok = c.it.Next()
		} else {
			ok = c.it.Prev()
		}
		switch {
		case c.new && up:
			c.at = 0
		case c.new:
			c.at = len(c.part) - 1
		case up:
			c.at = min(c.at+1, len(c.part))
		default:
			c.at = max(c.at-1, -1)
		}
	}
	c.new = false
	want := c.at >= 0 && c.at < len(c.part)
	if ok != want || c.it.Err() != nil {
		t.Fatalf("move %d of %+v: %v, %v; want %v", what, c.o, ok, c.it.Err(), want)
	}
	if !ok {
		// Beyond an end, an array of no keys has no sides.
		if len(c.part) == 0 {
			c.new = true
		}
		return
	}
	value := []byte(c.part[c.at].value)
	if c.o.KeysOnly {
		value = nil
	}
	if string(c.it.Key()) != c.part[c.at].key || !bytes.Equal(c.it.Value(), value) {
		t.Fatalf("move %d of %+v: %q is %.40q, want %q: %.40q", what, c.o, c.it.Key(), c.it.Value(), c.part[c.at].key, value)
	}
}

func randomKey(r *rand.Rand) string {
	key := fmt.Sprintf("%c%02d", 'a'+r.Intn(4), r.Intn(60))
	if r.Intn(10) == 0 {
		key = "\xff\xff" + key
	}
	return key
}

func randomBounds(r *rand.Rand) (lo, hi []byte) {
	if r.Intn(2) == 0 {
		lo = []byte(randomKey(r))
	}
	if r.Intn(2) == 0 {
		hi = []byte(randomKey(r))
	}
	if lo != nil && hi != nil && bytes.Compare(lo, hi) > 0 {
		lo, hi = hi, lo
	}
	return lo, hi
}

// Iterators with all options show the same as a sorted array with the same changes:
// with changes of direction and of bounds, while they are parked, over memtables
// and several levels of branches, with range deletes, merges and large values
// before and after they are made.
func TestIterOptions(t *testing.T) {
	for seed := range int64(6) {
		r := rand.New(rand.NewSource(seed))
		o := Options{Memory: 64 << 20, Merger: appendix{}, Tuning: Tuning{
			MemtableBytes: 32 << 10, LeafBytes: 8 << 10, Fanout: 4, Runs: 3, BlobBytes: 512, Inline: true,
		}}
		db, err := Open(env.Env{Disk: sim.NewDisk(), Clock: osenv.NewClock(), Random: env.Seeded(1), Tracer: env.NoTrace{}}, "db", o)
		if err != nil {
			t.Fatal(err)
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		model := map[string]string{}
		var cursors []*cursor
		parked, many := 0, 0
		for i := range 4000 {
			key := randomKey(r)
			switch p := r.Intn(100); {
			case p < 40:
				value := strings.Repeat(fmt.Sprint(i, " "), 1+r.Intn(20)) // some are large
				if r.Intn(20) == 0 {
					value = strings.Repeat(value, 20)
				}
				must(db.Put([]byte(key), []byte(value)))
				model[key] = value
			case p < 48:
				must(db.Merge([]byte(key), fmt.Append(nil, "+", i)))
				model[key] += fmt.Sprint("+", i)
			case p < 53:
				must(db.Delete([]byte(key)))
				delete(model, key)
			case p < 55:
				hi := key[:len(key)-1] + ":"
				must(db.DeleteRange([]byte(key), []byte(hi)))
				for k := range model {
					if k >= key && k < hi {
						delete(model, k)
					}
				}
			case p < 56:
				must(db.Flush())
			case i%1000 == 999:
				must(db.Compact(nil, nil))
			case p < 60 && len(cursors) < 6:
				c := &cursor{all: sorted(model), o: IterOptions{KeysOnly: r.Intn(2) == 0, Reverse: r.Intn(2) == 0}}
				c.o.Lo, c.o.Hi = randomBounds(r)
				c.o.Prefix = [][]byte{nil, nil, []byte("b"), []byte("c3"), []byte("\xff"), []byte("\xff\xff")}[r.Intn(6)]
				c.bound(c.o.Lo, c.o.Hi, string(c.o.Prefix))
				if r.Intn(2) == 0 {
					s := db.Snapshot()
					c.it, err = s.Iterate(c.o)
					s.Close()
				} else {
					c.it, err = db.Iterate(c.o)
				}
				must(err)
				cursors = append(cursors, c)
			case p < 62 && len(cursors) > 0:
				at := r.Intn(len(cursors))
				must(cursors[at].it.Close())
				cursors = slices.Delete(cursors, at, at+1)
			case p < 66 && len(cursors) > 0:
				c := cursors[r.Intn(len(cursors))]
				lo, hi := randomBounds(r)
				must(c.it.SetBounds(lo, hi))
				c.bound(lo, hi, "")
			case p < 70:
				for db.views.park() {
					parked++
				}
			default:
				for _, c := range cursors {
					for range r.Intn(6) {
						c.move(t, r)
					}
				}
			}
			if s := db.current.Load(); len(s.root.Path([]byte("b"), nil)) > 1 && len(cursors) > 0 {
				many++
			}
		}
		if parked == 0 || many == 0 {
			t.Fatalf("parked %d iterators, and %d times several branches: the test is empty", parked, many)
		}
		for _, c := range cursors {
			must(c.it.Close())
		}
		must(db.Close())
	}
}

// readCounter counts the reads of a file.
type readCounter struct {
	env.File
	reads int
}

func (f *readCounter) ReadAt(b []byte, off int64) (int, error) {
	f.reads++
	return f.File.ReadAt(b, off)
}

// The errors of invalid options, and that they change nothing.
func TestIterOptionsRefuse(t *testing.T) {
	db, err := Open(env.Env{Disk: sim.NewDisk(), Clock: osenv.NewClock(), Random: env.Seeded(1), Tracer: env.NoTrace{}}, "db",
		Options{Memory: 64 << 20, Tuning: Tuning{MemtableBytes: 32 << 10, BlobBytes: 512, Inline: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Put([]byte("b"), make([]byte, 5000)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Iterate(IterOptions{Lo: []byte("b"), Hi: []byte("a")}); err == nil {
		t.Error("bounds in the wrong order are not refused")
	}
	it, err := db.Iterate(IterOptions{Lo: []byte("c"), Prefix: []byte("b")})
	if err != nil || it.First() || it.Last() || it.Err() != nil {
		t.Errorf("a prefix outside of the bounds shows something, or is refused: %v", err)
	}
	if err := it.SetBounds([]byte("b"), []byte("a")); err == nil {
		t.Error("new bounds in the wrong order are not refused")
	}
	if err := it.SetBounds(nil, nil); err != nil || !it.First() || string(it.Key()) != "b" || len(it.Value()) != 5000 {
		t.Errorf("without bounds the iterator shows nothing: %v", err)
	}
	if err := it.Close(); err != nil {
		t.Error(err)
	}
	if err := it.SetBounds(nil, nil); err != ErrClosed {
		t.Errorf("bounds of a closed iterator: %v", err)
	}
	keys, err := db.Iterate(IterOptions{KeysOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	counted := &readCounter{File: db.files.data}
	db.files.data = counted
	if !keys.First() || keys.Value() != nil || counted.reads > 0 {
		t.Errorf("keys alone: %v, a value of %d bytes, %d reads", keys.Err(), len(keys.Value()), counted.reads)
	}
	if _, err := db.Get([]byte("b"), nil); err != nil || counted.reads == 0 {
		t.Errorf("a large value is read without a read: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := keys.SetBounds(nil, nil); err != ErrClosed {
		t.Errorf("bounds of an iterator whose store was closed: %v", err)
	}
}
