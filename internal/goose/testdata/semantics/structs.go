package semantics

type point struct {
	x, y uint64
}

type segment struct {
	from, to point
	name     string
	next     *segment
}

type counter struct {
	n     uint64
	hits  []uint64
	where point
}

func (c *counter) add(d uint64) uint64 {
	c.n += d
	c.hits = append(c.hits, d)
	return c.n
}

func (p point) sum() uint64 { return p.x + p.y }

func (p point) moved(dx uint64) point {
	p.x += dx
	return p
}

func (p *point) move(dx uint64) { p.x += dx }

func (c colour) next() colour { return c + 1 }

func testStructLiteral() bool {
	p := point{x: 1, y: 2}
	q := point{3, 4}
	r := point{y: 5}
	var z point
	return p.x+p.y == 3 && q.x*q.y == 12 && r.x == 0 && r.y == 5 && z.x == 0 && z.y == 0
}

func testStructCopy() bool {
	a := point{1, 2}
	b := a
	b.x = 10
	return a.x == 1 && b.x == 10 && b.y == 2
}

func testStructCopyOfField() bool {
	s := segment{from: point{1, 2}}
	p := s.from
	p.x = 9
	s.from.y = 7
	return s.from.x == 1 && s.from.y == 7 && p.x == 9 && p.y == 2
}

func testStructPointer() bool {
	p := &point{1, 2}
	q := p
	q.x = 10
	return p.x == 10 && p.y == 2 && p == q
}

func testStructDereferenceCopies() bool {
	p := &point{1, 2}
	v := *p
	p.x = 5
	*p = point{v.x + 100, p.x}
	return v.x == 1 && p.x == 101 && p.y == 5
}

func testNestedInPlace() bool {
	s := &segment{from: point{1, 2}, to: point{3, 4}, name: "s"}
	t := &s.to
	t.x = 30
	s.from = *t
	t.y = 40
	return s.to.x == 30 && s.from.x == 30 && s.from.y == 4 && s.to.y == 40 && s.name == "s" && s.next == nil
}

func testFieldAddress() bool {
	p := &point{1, 2}
	a := &p.y
	*a = 20
	*a += 2
	return p.y == 22 && *a == 22 && p.x == 1
}

func testStructComparison() bool {
	a, b := point{1, 2}, point{1, 2}
	c := point{1, 3}
	return a == b && a != c && a == point{1, 2}
}

func testStructComparisonNested() bool {
	a := segment{from: point{1, 2}, name: "a"}
	b := a
	same := a == b
	b.to.y = 1
	return same && a != b
}

func testPointerComparison() bool {
	p, q := &point{1, 2}, &point{1, 2}
	var none *point
	return p != q && p == p && none == nil && p != none && *p == *q
}

func testMethods() bool {
	c := &counter{}
	a := c.add(5)
	b := c.add(6)
	return a == 5 && b == 11 && c.n == 11 && len(c.hits) == 2 && c.hits[1] == 6
}

func testMethodOnLocal() bool {
	var c counter
	c.add(5)
	c.where.move(3)
	return c.n == 5 && c.where.sum() == 3
}

func testValueReceiverCopies() bool {
	p := point{1, 2}
	q := p.moved(10)
	r := &p
	return p.x == 1 && q.x == 11 && r.sum() == 3 && r.moved(1).x == 2
}

func testMethodOnInteger() bool { return red.next() == green }

func testLinkedList() bool {
	var head *segment
	for i := uint64(0); i < 5; i++ {
		head = &segment{from: point{x: i}, next: head}
	}
	sum, n := uint64(0), uint64(0)
	for s := head; s != nil; s = s.next {
		sum = sum*10 + s.from.x
		n++
	}
	return sum == 43210 && n == 5
}

func testAddressOfLocal() bool {
	x := uint64(1)
	p := &x
	*p = 5
	x++
	q := &p
	**q += 10
	return x == 16 && *p == 16
}

func set(p *uint64, v uint64) { *p = v }

func testPointerArgument() bool {
	x := uint64(1)
	set(&x, 7)
	p := &point{}
	set(&p.y, 8)
	s := make([]uint64, 3)
	set(&s[1], 9)
	return x == 7 && p.y == 8 && s[0] == 0 && s[1] == 9
}

func testNew() bool {
	p := new(uint64)
	q := new(point)
	*p += 3
	q.y = 4
	return *p == 3 && q.x == 0 && q.y == 4
}

func changeParameter(x uint64, p point) uint64 {
	x += 1
	p.x += x
	return p.x
}

func testParametersAreCopies() bool {
	x := uint64(1)
	p := point{10, 20}
	r := changeParameter(x, p)
	return r == 12 && x == 1 && p.x == 10
}

func testStructsInSlices() bool {
	s := make([]point, 3)
	s[1].x = 5
	s[2] = s[1]
	s[1].y = 6
	p := &s[2]
	p.y = 7
	s = append(s, point{8, 9})
	return s[0].x == 0 && s[1] == point{5, 6} && s[2].y == 7 && s[3].y == 9 && len(s) == 4
}

func testZeroValues() bool {
	var s segment
	var c counter
	return s.name == "" && s.next == nil && s.to == point{} && c.hits == nil && len(c.hits) == 0
}
