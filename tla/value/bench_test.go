// SPDX-License-Identifier: Apache-2.0

package value

import "testing"

// sink keeps results alive, so that nothing is optimised away.
var sink struct {
	v Value
	b bool
	n int32
	h uint64
}

func modelSet(n int) Value {
	vs := make([]Value, n)
	for i := range vs {
		vs[i] = Model("r" + string(rune('a'+i)))
	}
	return SetOf(vs)
}

func intsUpTo(n int) Value {
	vs := make([]Value, n)
	for i := range vs {
		vs[i] = Int(int32(3 * i))
	}
	return SetOf(vs)
}

func BenchmarkAdd(b *testing.B) {
	x, y := Int(3), Int(4)
	for b.Loop() {
		sink.v = Add(x, y)
	}
}

func BenchmarkEqualInt(b *testing.B) {
	x, y := Int(3), Int(4)
	for b.Loop() {
		sink.b = Equal(x, y)
	}
}

func BenchmarkEqualString(b *testing.B) {
	x, y := String("prepared"), String("committed")
	for b.Loop() {
		sink.b = Equal(x, y)
	}
}

func BenchmarkEqualRecord(b *testing.B) {
	r := Record([]Field{{"type", String("prepared")}, {"rm", Model("r1")}})
	s := r.ExceptField("rm", Model("r2")).ExceptField("rm", Model("r1"))
	for b.Loop() {
		sink.b = Equal(r, s)
	}
}

func BenchmarkTuple2(b *testing.B) {
	x, y := Int(3), String("a")
	b.ReportAllocs()
	for b.Loop() {
		sink.v = Tuple(x, y)
	}
}

func BenchmarkApplyTuple(b *testing.B) {
	v, i := Tuple(Int(1), Int(2), Int(3), Int(4)), Int(3)
	for b.Loop() {
		sink.v = v.Apply(i)
	}
}

func BenchmarkApplyModel8(b *testing.B) {
	domain := modelSet(8)
	f, vals := NewFn(domain)
	for i := range vals {
		vals[i] = Int(int32(i))
	}
	x := domain.Elems()[6]
	for b.Loop() {
		sink.v = f.Apply(x)
	}
}

func BenchmarkApplyPair100(b *testing.B) {
	domain := Enumerate(Times(Interval(1, 10), Interval(1, 10)))
	f, vals := NewFn(domain)
	for i := range vals {
		vals[i] = Int(int32(i))
	}
	x := Tuple(Int(7), Int(3))
	for b.Loop() {
		sink.v = f.Apply(x)
	}
}

func BenchmarkExceptModel8(b *testing.B) {
	domain := modelSet(8)
	f, vals := NewFn(domain)
	for i := range vals {
		vals[i] = Int(int32(i))
	}
	x := domain.Elems()[6]
	b.ReportAllocs()
	for b.Loop() {
		sink.v = f.ExceptIndex(x, Bool(true))
	}
}

func BenchmarkContainsModel8(b *testing.B) {
	s := modelSet(8)
	x := Model("rz")
	for b.Loop() {
		sink.b = Contains(s, x)
	}
}

func BenchmarkContainsInt100(b *testing.B) {
	s, x := intsUpTo(100), Int(96)
	for b.Loop() {
		sink.b = Contains(s, x)
	}
}

func BenchmarkContainsRecordSet(b *testing.B) {
	rms := modelSet(8)
	s := RecordSet([]Field{{"type", Set(String("prepared"))}, {"rm", rms}})
	r := Record([]Field{{"type", String("prepared")}, {"rm", rms.Elems()[3]}})
	for b.Loop() {
		sink.b = Contains(s, r)
	}
}

func BenchmarkContainsFnSet(b *testing.B) {
	rms := modelSet(8)
	s := FnSet(rms, Set(String("working"), String("prepared"), String("committed"), String("aborted")))
	f, vals := NewFn(rms)
	for i := range vals {
		vals[i] = String("prepared")
	}
	b.ReportAllocs()
	for b.Loop() {
		sink.b = Contains(s, f)
	}
}

func BenchmarkInsertRecord(b *testing.B) {
	rms := modelSet(8)
	records := make([]Value, 8)
	for i, rm := range rms.Elems() {
		records[i] = Record([]Field{{"type", String("prepared")}, {"rm", rm}})
	}
	// The fields have one set of names, as those of a literal do.
	for i := range records {
		records[i] = records[0].ExceptField("rm", records[i].Field("rm"))
	}
	s := SetOf(append([]Value{}, records[:7]...))
	b.ReportAllocs()
	for b.Loop() {
		sink.v = Insert(s, records[7])
	}
}

func BenchmarkUnion(b *testing.B) {
	s, t := intsUpTo(8), Map(intsUpTo(8), func(x Value) Value { return Add(x, Int(1)) })
	b.ReportAllocs()
	for b.Loop() {
		sink.v = Union(s, t)
	}
}

func BenchmarkInterval(b *testing.B) {
	for b.Loop() {
		n := int32(0)
		for x := range Interval(1, 10).Each {
			n += x.AsInt()
		}
		sink.n = n
	}
}

func BenchmarkSubsets(b *testing.B) {
	s := Subsets(Interval(1, 10))
	b.ReportAllocs()
	for b.Loop() {
		for x := range s.Each {
			sink.v = x
		}
	}
}

func BenchmarkHashFresh(b *testing.B) {
	x, y := Int(3), String("a")
	for b.Loop() {
		sink.h = Hash(Tuple(x, y))
	}
}

// state is like one of two-phase commit.
func state() []Value {
	rms := modelSet(8)
	f, vals := NewFn(rms)
	for i := range vals {
		vals[i] = String("prepared")
	}
	names := Set(String("type"), String("rm"))
	msgs := []Value{}
	for _, rm := range rms.Elems() {
		r, vs := NewFn(names)
		vs[0], vs[1] = rm, String("prepared")
		msgs = append(msgs, r)
	}
	return []Value{f, String("init"), rms, SetOf(msgs)}
}

func BenchmarkEncode(b *testing.B) {
	c, vs := NewCodec(), state()
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = buf[:0]
		for _, v := range vs {
			buf = c.AppendTo(buf, v)
		}
	}
	b.ReportMetric(float64(len(buf)), "bytes")
}

func BenchmarkDecode(b *testing.B) {
	c, vs := NewCodec(), state()
	var buf []byte
	for _, v := range vs {
		buf = c.AppendTo(buf, v)
	}
	b.ReportAllocs()
	for b.Loop() {
		rest := buf
		for range vs {
			var err error
			if sink.v, rest, err = c.Decode(rest); err != nil {
				b.Fatal(err)
			}
		}
	}
}
