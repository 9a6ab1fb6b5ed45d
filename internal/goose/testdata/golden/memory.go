// Package memory shows variables, structs, slices, maps and pointers.
package memory

type inner struct {
	a uint64
	b []byte
}

type outer struct {
	in   inner
	p    *inner
	m    map[string]inner
	f    func(uint64) bool
	next *outer
}

func values(x uint64, in inner) uint64 {
	y := x
	in2 := in
	return y + in2.a + in.a
}

func variables(x uint64) uint64 {
	x += 1
	var y uint64
	y = x
	p := &y
	*p += 2
	return y
}

func places(o *outer, s []inner, i int) {
	o.in.a = 1
	o.p.a = o.in.a
	s[i].a = 2
	s[i] = inner{a: 3}
	o.in = s[i]
	*o.p = o.in
	o.m["k"] = inner{b: nil}
	o.in.a++
	o.p.b[0] ^= 5
	s[i].b[1]--
	o.next.next = nil
}

func readings(o *outer, s []inner, i int) uint64 {
	v, ok := o.m["k"]
	w := *o.p
	if ok && o.f(v.a) && o.next != nil && o.m != nil && s != nil {
		return w.a + s[i].a + o.in.a + uint64(w.b[0])
	}
	return o.m["z"].a
}

func fresh() *outer {
	o := &outer{in: inner{1, []byte{1, 2}}, p: new(inner), m: map[string]inner{"x": {a: 1}}}
	o.next = &outer{}
	var zero inner
	o.in = zero
	o.f = func(n uint64) bool { return n > o.in.a }
	return o
}

func slicing(s []uint64, t []uint64) []uint64 {
	a := make([]uint64, 3, 10)
	a = append(a, s...)
	a = append(a, 1)
	a = append(a, 2, 3)
	n := copy(a[1:], t[:2])
	delete(map[uint64]bool{}, 5)
	return a[n : len(a)-1]
}

func texts(s string, b []byte) string {
	t := string(b) + s[1:] + s[:2] + s[1:2]
	c := []byte(t)
	if s[0] == 'x' && s != "é\n" {
		return ""
	}
	return string(c[:len(s)])
}

func swap(s []uint64, i, j uint64) {
	s[i], s[j] = s[j], s[i]
}
