// SPDX-License-Identifier: Apache-2.0

package memtable_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/memtable"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// sample fills a table in three frames, and returns where they are.
func sample(t testing.TB, m *memtable.Table) (frames [][2]int) {
	t.Helper()
	seq := message.Seq(100)
	for frame := range 3 {
		lo := m.Pos()
		for i := range 150 {
			seq += 1 + message.Seq(i%2)
			x := put(fmt.Sprintf("user%03d", (i*37+frame*11)%90), fmt.Sprintf("value %d of frame %d", i, frame), seq)
			switch {
			case i%11 == 5:
				x.Kind, x.Value = message.Delete, nil
			case i%13 == 7:
				x.Kind = message.Merge
			case i%29 == 3:
				x.Kind, x.Value = message.RangeDelete, []byte(fmt.Sprintf("user%03d", i))
			}
			mustAppend(t, m, x)
		}
		frames = append(frames, [2]int{lo, m.Pos()})
		if !m.Skip((m.Pos()+4095)&^4095 + 64) {
			t.Fatal("no skip")
		}
	}
	return frames
}

// answers writes down everything in a table.
func answers(t testing.TB, m *memtable.Table) []string {
	t.Helper()
	out := []string{fmt.Sprint(m.Len(), m.MinSeq(), m.MaxSeq(), m.Deletes(), m.RangeDeletes())}
	for i := range 100 {
		key := fmt.Appendf(nil, "user%03d", i)
		for _, at := range []message.Seq{0, 150, 300, 500, message.MaxSeq} {
			for p := m.Find(key, at); p != memtable.None; p = m.Older(p) {
				out = append(out, fmt.Sprint(at, " ", show(m.At(p))))
			}
			out = append(out, fmt.Sprint(m.Covering(key, at)))
		}
	}
	for _, x := range m.Tombstones(message.MaxSeq) {
		out = append(out, fmt.Sprintf("%q %q %d", x.Lo, x.Hi, x.Seq))
	}
	v := view(t, m)
	defer v.Release()
	return append(out, walk(t, v)...)
}

func TestLoadIsAppend(t *testing.T) {
	const arenaBytes = 128 << 10
	m := table(t, arenaBytes)
	frames := sample(t, m)
	want := answers(t, m)
	for _, older := range []uint32{0, 0xffffffff, 8} { // the field has no meaning on disk
		back := table(t, arenaBytes)
		copy(back.Bytes(0, arenaBytes), m.Bytes(0, m.Pos()))
		var seen []string
		for _, f := range frames {
			for p := f[0]; p < f[1]; {
				b := back.Bytes(p, f[1])
				binary.LittleEndian.PutUint32(b, older)
				p += memtable.EntrySize(int(binary.LittleEndian.Uint16(b[16:])), int(binary.LittleEndian.Uint32(b[4:])))
			}
			// With the padding and without.
			hi := f[1]
			if older == 8 {
				hi = (f[1] + 4095) &^ 4095
			}
			if err := back.Load(f[0], hi, func(m message.Message) { seen = append(seen, show(m)) }); err != nil {
				t.Fatal(err)
			}
			if back.Pos() != hi {
				t.Errorf("at %d after loading up to %d", back.Pos(), hi)
			}
		}
		diff(t, "answers", answers(t, back), want)
		for _, f := range frames {
			if !bytes.Equal(back.Bytes(f[0], f[1]), m.Bytes(f[0], f[1])) {
				t.Error("the arenas differ")
			}
		}
		if len(seen) != m.Len() || !slices.Contains(seen, `"user011" 326 put "value 0 of frame 1"`) {
			t.Errorf("%d messages seen, want %d: %v", len(seen), m.Len(), seen)
		}
		if last := back.MaxSeq(); !back.Append(put("more", "", last+1)) || back.Find([]byte("more"), last+1) == memtable.None {
			t.Error("a loaded table takes no more")
		}
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	const at = base + 32 // the second of three entries of 32 bytes
	for _, c := range []struct {
		name, want string
		spoil      func(b []byte) // the bytes from the second entry on
		lo, hi     int
	}{
		{"magic", "offset 4210: want magic 0xa51a, found 0x001a", func(b []byte) { b[19] = 0 }, base, base + 96},
		{"no magic", "offset 4196: want zeros after the last message, found 0x03", func(b []byte) { b[18], b[19] = 0, 0 }, base, base + 96},
		{"reserved", "offset 4212: want 0 or 1, found 0x00010000", func(b []byte) { b[22] = 1 }, base, base + 96},
		{"value length", "offset 4196: want a key and a value within 40 bytes, found 3 and 38 bytes", func(b []byte) { b[4] = 38 }, base, base + 96},
		{"huge value", "offset 4196: want a key and a value within 40 bytes, found 3 and 4294967295 bytes", func(b []byte) { copy(b[4:], "\xff\xff\xff\xff") }, base, base + 96},
		{"key length", "offset 4196: want a key and a value within 40 bytes, found 65535 and 3 bytes", func(b []byte) { b[16], b[17] = 255, 255 }, base, base + 96},
		{"kind", "offset 4200: want a known kind of message, found 6", func(b []byte) { b[8] = 6 }, base, base + 96},
		{"number", "offset 4200: want a number above 1, found 1", func(b []byte) { b[9] = 1 }, base, base + 96},
		{"number again", "offset 4232: want a number above 200, found 3", func(b []byte) { b[9] = 200 }, base, base + 96},
		{"pad", "offset 4222: want zeros after the value, found 0x07", func(b []byte) { b[30] = 7 }, base, base + 96},
		{"half an entry", "offset 4228: want zeros after the last message, found 0x03", nil, base, base + 80},
		{"nearly an entry", "offset 4228: want a key and a value within 0 bytes, found 3 and 3 bytes", nil, base, base + 88},
		{"odd end", "want multiples of 8 within 4160 and 8192, found [4160, 4250)", nil, base, base + 90},
		{"beyond", "want multiples of 8 within 4160 and 8192, found [4160, 8200)", nil, base, 8200},
		{"before", "want multiples of 8 within 4160 and 8192, found [4096, 4200)", nil, 4096, 4200},
		{"backwards", "want multiples of 8 within 4160 and 8192, found [4200, 4192)", nil, 4200, 4192},
	} {
		t.Run(c.name, func(t *testing.T) {
			from, m := table(t, 8<<10), table(t, 8<<10)
			mustAppend(t, from, put("k 1", "v 1", 1), put("k 2", "v 2", 2), put("k 3", "v 3", 3))
			copy(m.Bytes(base, 8<<10), from.Bytes(base, from.Pos()))
			if c.spoil != nil {
				c.spoil(m.Bytes(at, base+96))
			}
			err := m.Load(c.lo, c.hi, nil)
			if got, want := fmt.Sprint(err), "load memtable: "+c.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestLoadWithoutMemory(t *testing.T) {
	from := table(t, 128<<10)
	for i := range message.Seq(1000) {
		mustAppend(t, from, put(fmt.Sprint(i), "", i+1))
	}
	pool := slab.New(4096)
	arena := make([]byte, 128<<10)
	copy(arena, from.Bytes(0, from.Pos()))
	m, ok := memtable.New(arena, pool, base)
	if !ok {
		t.Fatal("no table")
	}
	if err := m.Load(base, from.Pos(), nil); !errors.Is(err, memtable.ErrMemory) {
		t.Errorf("got %v, want %v", err, memtable.ErrMemory)
	}
	m.Close()
	pool.Close()
}

// FuzzLoad loads arbitrary bytes, and uses everything that was accepted: nothing
// may panic, and every accepted message must be found.
func FuzzLoad(f *testing.F) {
	m := table(f, 64<<10)
	mustAppend(f, m, put("key", "value", 1), put("key", "second value", 2), put("", "", 5),
		message.Message{Key: []byte("a"), Value: []byte("b"), Seq: 7, Kind: message.RangeDelete})
	image := bytes.Clone(m.Bytes(base, m.Pos()))
	f.Add(image)
	f.Add(append(bytes.Clone(image), make([]byte, 64)...))
	f.Add(append(bytes.Clone(image), 1))
	f.Add(image[:40])
	f.Add([]byte{})
	f.Add(make([]byte, 100))
	for _, i := range []int{4, 7, 8, 15, 16, 17, 18, 20, 33} {
		spoiled := bytes.Clone(image)
		spoiled[i] ^= 0x81
		f.Add(spoiled)
	}
	f.Fuzz(func(t *testing.T, image []byte) {
		n := len(image) &^ 7
		pool := slab.New(1 << 20)
		arena := make([]byte, base+n)
		copy(arena[base:], image)
		m, ok := memtable.New(arena, pool, base)
		if !ok {
			t.Fatal("no table")
		}
		model := model{}
		err := m.Load(base, base+n, func(x message.Message) {
			model.add(message.Message{Key: bytes.Clone(x.Key), Value: bytes.Clone(x.Value), Seq: x.Seq, Kind: x.Kind})
		})
		if err == nil && m.Pos() != base+n {
			t.Fatalf("at %d, want %d", m.Pos(), base+n)
		}
		v := view(t, m)
		diff(t, "view", walk(t, v), model.list())
		v.Release()
		for _, x := range model.sorted {
			p := m.Find(x.Key, x.Seq)
			switch {
			case x.Kind == message.RangeDelete:
				m.Covering(x.Key, x.Seq)
			case p == memtable.None || show(m.At(p)) != show(x):
				t.Fatalf("%s is not found", show(x))
			}
		}
		m.Close()
		pool.Close()
	})
}
