package semantics

type shape interface {
	area() uint64
	grow(by uint64) uint64
}

type square struct{ side uint64 }

func (s *square) area() uint64 { return s.side * s.side }

func (s *square) grow(by uint64) uint64 {
	s.side += by
	return s.side
}

type bar struct{ length uint64 }

func (b bar) area() uint64          { return b.length }
func (b bar) grow(by uint64) uint64 { b.length += by; return b.length }

func total(list ...shape) uint64 {
	sum := uint64(0)
	for _, s := range list {
		if s != nil {
			sum = sum*100 + s.area()
		}
	}
	return sum
}

func testInterfaceMethods() bool {
	q := &square{2}
	var s shape = q
	a := s.grow(3)
	b := s.area()
	return a == 5 && b == 25 && q.side == 5
}

func testInterfaceHoldsACopy() bool {
	x := bar{4}
	var s shape = x
	x.length = 9
	grown := s.grow(1)
	return grown == 5 && s.area() == 4 && x.length == 9
}

func testInterfacesInSlices() bool {
	list := []shape{&square{3}, nil, bar{7}}
	list = append(list, bar{8})
	return total(list...) == 90708 && total() == 0 && total(nil, bar{1}) == 1
}

func pick(wide bool) shape {
	if wide {
		return bar{2}
	}
	return nil
}

func testInterfaceNil() bool {
	var s shape
	none := s == nil
	s = pick(true)
	return none && s != nil && pick(false) == nil && s.area() == 2
}

type area interface{ area() uint64 }

func testInterfaceOfInterface() bool {
	var s shape = &square{4}
	var a area = s
	return a.area() == 16
}

type framed struct {
	square
	border uint64
}

func (f *framed) area() uint64 { return f.square.area() + f.border }

type deep struct {
	*framed
	n uint64
}

func testEmbeddedFields() bool {
	f := framed{square{3}, 1}
	f.side++
	p := &f
	p.square.side++
	g := f
	g.side = 0
	d := deep{framed: p, n: 2}
	d.side += 10
	d.border = 7
	return f.side == 15 && g.side == 0 && d.framed.border == 7 && f.border == 7 && d.n == 2 && d.square.area() == 225
}

func testEmbeddedMethods() bool {
	f := &framed{square{3}, 1}
	d := deep{framed: f}
	var s shape = f
	a := s.area()
	b := s.grow(2)
	var t shape = d
	return a == 10 && b == 5 && f.side == 5 && t.area() == 26 && d.grow(1) == 6
}

func testMethodValues() bool {
	q := &square{2}
	grow := q.grow
	var s shape = bar{5}
	size := s.area
	s = q
	grow(1)
	x := bar{1}
	length := x.area
	x.length = 8
	return q.side == 3 && size() == 5 && length() == 1
}

func namedResult(n uint64) (half uint64, odd bool) {
	half = n / 2
	if n%2 == 0 {
		return
	}
	odd = true
	half++
	return half, odd
}

func blankResult() (_ uint64, ok bool) {
	ok = true
	return
}

func capturedResult() (n uint64) {
	add := func() { n += 2 }
	add()
	add()
	return
}

func testNamedResultVariables() bool {
	a, b := namedResult(10)
	c, d := namedResult(7)
	e, f := blankResult()
	return a == 5 && !b && c == 4 && d && e == 0 && f && capturedResult() == 4
}

func variadicSum(first uint64, rest ...uint64) uint64 {
	for i, x := range rest {
		first = first*10 + x
		rest[i] = 0
	}
	if rest == nil {
		return first + 1000
	}
	return first
}

func testVariadics() bool {
	s := []uint64{3, 4}
	a := variadicSum(1, s...)
	return variadicSum(1) == 1001 && variadicSum(1, 2, 3) == 123 && a == 134 && s[0] == 0
}

func deferred(trace *[]uint64) uint64 {
	n := uint64(1)
	defer func() { *trace = append(*trace, n) }()
	defer func() {
		if n == 2 {
			return
		}
		*trace = append(*trace, 100+n)
	}()
	n = 3
	if len(*trace) > 1 {
		n = 2
		return n + 10
	}
	return n
}

func testDeferredLiterals() bool {
	var trace []uint64
	a := deferred(&trace)
	b := deferred(&trace)
	return a == 3 && b == 12 && len(trace) == 3 && trace[0] == 103 && trace[1] == 3 && trace[2] == 2
}

type nobody struct{}

func (nobody) area() uint64          { return 6 }
func (nobody) grow(by uint64) uint64 { return by }

func testEmptyStructs() bool {
	var s shape = nobody{}
	return s.area() == 6 && nobody{}.grow(3) == 3
}
