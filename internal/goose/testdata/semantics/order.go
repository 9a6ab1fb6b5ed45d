package semantics

type log struct {
	entries []uint64
	last    uint64
}

func (l *log) note(x uint64) uint64 {
	l.entries = append(l.entries, x)
	l.last = x
	return x
}

func (l *log) value() uint64 {
	n := uint64(0)
	for _, e := range l.entries {
		n = n*10 + e
	}
	return n
}

func add3(a, b, c uint64) uint64 { return a*100 + b*10 + c }

func testOrderOfOperands() bool {
	l := &log{}
	x := l.note(1) + l.note(2)*l.note(3)
	return x == 7 && l.value() == 123
}

func testOrderOfArguments() bool {
	l := &log{}
	x := add3(l.note(1), l.note(2), l.note(3))
	return x == 123 && l.value() == 123
}

func testOrderOfNestedCalls() bool {
	l := &log{}
	x := add3(l.note(1), add3(l.note(2), 0, l.note(3)), l.note(4))
	return x == 100+2030+4 && l.value() == 1234
}

func testOrderOfFields() bool {
	l := &log{}
	p := point{y: l.note(1), x: l.note(2)}
	return p.y == 1 && p.x == 2 && l.value() == 12
}

func testOrderOfElements() bool {
	l := &log{}
	s := []uint64{l.note(1), l.note(2), l.note(3)}
	s = append(s, l.note(4), l.note(5))
	return s[0] == 1 && s[2] == 3 && s[4] == 5 && l.value() == 12345
}

func testOrderOfAssignment() bool {
	l := &log{}
	s := make([]uint64, 10)
	s[l.note(1)] = l.note(2)
	s[l.note(3)], s[l.note(4)] = l.note(5), l.note(6)
	return s[1] == 2 && s[3] == 5 && s[4] == 6 && l.value() == 123456
}

func testOrderOfResults() bool {
	l := &log{}
	f := func() (uint64, uint64) { return l.note(1), l.note(2) }
	a, b := f()
	return a == 1 && b == 2 && l.value() == 12
}

func testOrderOfLogic() bool {
	l := &log{}
	a := l.note(1) == 1 && l.note(2) == 9 && l.note(3) == 3
	b := l.note(4) == 9 || l.note(5) == 5 || l.note(6) == 6
	return !a && b && l.value() == 1245
}

func testOpAssignEvaluatesOnce() bool {
	l := &log{}
	s := make([]uint64, 10)
	s[l.note(1)] += 5
	s[l.note(1)]++
	m := map[uint64]uint64{}
	m[l.note(2)] += 7
	return s[1] == 6 && m[2] == 7 && l.value() == 112
}

func (l *log) self() *log {
	l.note(7)
	return l
}

func testOrderOfReceiver() bool {
	l := &log{}
	x := l.self().note(l.self().note(1))
	return x == 1 && l.value() == 7711
}

func testCallBesideLocal() bool {
	l := &log{}
	x := uint64(5)
	x++
	y := x + l.note(1) + x
	return y == 13
}

func testOrderOfMapLiteral() bool {
	l := &log{}
	m := map[uint64]uint64{l.note(1): l.note(2), l.note(3): l.note(4)}
	return m[1] == 2 && m[3] == 4 && l.value() == 1234
}

func testSwitchTagOnce() bool {
	l := &log{}
	r := uint64(0)
	switch l.note(2) {
	case l.note(1):
		r = 1
	case l.note(2), l.note(3):
		r = 2
	case l.note(4):
		r = 3
	}
	return r == 2 && l.value() == 212
}
