// SPDX-License-Identifier: Apache-2.0

package rt_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
)

var scalars = []uint8{rt.KindU64, rt.KindInt, rt.KindBool, rt.KindText, rt.KindBytes, rt.KindNode}

func types() *rapid.Generator[rt.Type] {
	return rapid.Custom(func(t *rapid.T) rt.Type {
		typ := rt.Type{Kind: rapid.SampledFrom(scalars).Draw(t, "kind")}
		for range rapid.IntRange(0, 2).Draw(t, "sets") {
			elem := typ
			typ = rt.Type{Kind: rt.KindSet, Elem: &elem}
		}
		return typ
	})
}

func value(t *rapid.T, typ rt.Type) rt.Value {
	switch typ.Kind {
	case rt.KindU64, rt.KindInt:
		return rt.Value{Num: rapid.Uint64().Draw(t, "number")}
	case rt.KindBool:
		return rt.Value{Num: rapid.Uint64Range(0, 1).Draw(t, "truth")}
	case rt.KindSet:
		var v rt.Value
		for range rapid.IntRange(0, 4).Draw(t, "size") {
			v.Set = append(v.Set, value(t, *typ.Elem))
		}
		slices.SortFunc(v.Set, func(a, b rt.Value) int { return a.Compare(b, *typ.Elem) })
		v.Set = slices.CompactFunc(v.Set, func(a, b rt.Value) bool { return a.Compare(b, *typ.Elem) == 0 })
		return v
	}
	return rt.Value{Str: rapid.String().Draw(t, "text")}
}

// TestRowsComeBack has rows of all types written and read.
func TestRowsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var columns []rt.Column
		var values []rt.Value
		for _, typ := range rapid.SliceOfN(types(), 0, 4).Draw(t, "types") {
			columns = append(columns, rt.Column{Type: typ})
			values = append(values, value(t, typ))
		}
		row, err := rt.AppendRow([]byte("before"), columns, values)
		if err != nil || !bytes.HasPrefix(row, []byte("before")) {
			t.Fatal(row, err)
		}
		row = row[len("before"):]
		got, err := rt.ReadRow(row, columns)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if got[i].Compare(values[i], columns[i].Type) != 0 {
				t.Fatalf("column %d is %v, want %v", i, got[i], values[i])
			}
		}
		for n := range row {
			if _, err := rt.ReadRow(row[:n], columns); !errors.Is(err, rt.ErrRow) {
				t.Fatalf("the first %d of %d bytes are a row, too", n, len(row))
			}
		}
		if _, err := rt.ReadRow(append(row, 0), columns); !errors.Is(err, rt.ErrRow) {
			t.Fatal("a row with a byte more is one, too")
		}
	})
}

// TestNoRows has bytes and values that are no rows refused.
func TestNoRows(t *testing.T) {
	u64 := rt.Type{Kind: rt.KindU64}
	set := []rt.Column{{Name: "s", Type: rt.Type{Kind: rt.KindSet, Elem: &u64}}}
	text := []rt.Column{{Name: "t", Type: rt.Type{Kind: rt.KindText}}}
	for _, c := range []struct {
		columns []rt.Column
		row     string
	}{
		{text, ""},
		{text, "\x05abcd"},
		{text, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01abcd"},
		{text, "\x84\x00abcd"}, // a length of more bytes than it takes
		{set, "\x02\x01\x01"},
		{set, "\x02\x02\x01"},
		{set, "\xff\xff\xff\xff\x7f"},
		{[]rt.Column{{Type: rt.Type{Kind: rt.KindBool}}}, "\x02"},
		{nil, "x"},
	} {
		if _, err := rt.ReadRow([]byte(c.row), c.columns); !errors.Is(err, rt.ErrRow) {
			t.Errorf("%q: %v", c.row, err)
		}
	}
	for _, v := range [][]rt.Value{
		nil,
		{{}, {}},
		{{Set: []rt.Value{{Num: 2}, {Num: 1}}}},
		{{Set: []rt.Value{{Num: 2}, {Num: 2}}}},
	} {
		if _, err := rt.AppendRow(nil, set, v); !errors.Is(err, rt.ErrRow) {
			t.Errorf("%v: %v", v, err)
		}
	}
	if _, err := rt.AppendRow(nil, text, []rt.Value{{Str: strings.Repeat("x", rt.RowMax)}}); !errors.Is(err, rt.ErrRow) {
		t.Error("a row of more than RowMax bytes", err)
	}
	if _, err := rt.ReadRow(make([]byte, rt.RowMax+1), text); !errors.Is(err, rt.ErrRow) {
		t.Error("a row of more than RowMax bytes is read", err)
	}
}

// FuzzRow: what is read is written as the same bytes.
func FuzzRow(f *testing.F) {
	f.Add([]byte("\x01\x02\x01\x03abc\x00\x02\x01a\x01b"))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02\x00\x00\x00\x00"))
	text := rt.Type{Kind: rt.KindText}
	var columns []rt.Column
	for _, t := range []rt.Type{{Kind: rt.KindU64}, {Kind: rt.KindInt}, {Kind: rt.KindBool}, text, {Kind: rt.KindNode},
		{Kind: rt.KindSet, Elem: &text}} {
		columns = append(columns, rt.Column{Type: t})
	}
	f.Fuzz(func(t *testing.T, row []byte) {
		values, err := rt.ReadRow(row, columns)
		if err != nil {
			return
		}
		again, err := rt.AppendRow(nil, columns, values)
		if err != nil || !bytes.Equal(again, row) {
			t.Fatalf("%x is read as %v and written as %x (%v)", row, values, again, err)
		}
	})
}

// TestOut: rows stay what they are while others come, until Reset.
func TestOut(t *testing.T) {
	var o rt.Out
	for round := range 3 {
		for i := range 1000 {
			row := o.Begin()
			row.U64(uint64(i))
			row.Text(strings.Repeat("x", i%700))
			if i%2 == 0 {
				o.Send("n/0", 3, row)
			} else {
				o.Change(4, i%3 == 0, row)
			}
		}
		if len(o.Sent) != 500 || len(o.Changes) != 500 || o.Empty() {
			t.Fatal(round, len(o.Sent), len(o.Changes))
		}
		check := func(i int, row []byte) {
			r := rt.Read(row)
			if n, s := r.U64(), r.Bytes(); n != uint64(i) || len(s) != i%700 || r.End() != nil {
				t.Fatalf("row %d has become %d with %d bytes", i, n, len(s))
			}
		}
		for i := range 500 {
			check(2*i, o.Sent[i].Row)
			check(2*i+1, o.Changes[i].Row)
			if o.Changes[i].Gone != ((2*i+1)%3 == 0) {
				t.Fatal("gone", i)
			}
		}
		o.Reset()
		if !o.Empty() {
			t.Fatal("not empty")
		}
	}
}
