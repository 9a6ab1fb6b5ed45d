package semantics

func apply(f func(uint64) uint64, x uint64) uint64 { return f(x) }

func double(x uint64) uint64 { return 2 * x }

func adder(n uint64) func(uint64) uint64 {
	return func(x uint64) uint64 { return x + n }
}

func testFunctionValue() bool {
	f := double
	return apply(f, 4) == 8 && apply(double, 5) == 10 && apply(adder(3), 4) == 7
}

func testClosureCaptures() bool {
	n := uint64(0)
	inc := func() uint64 {
		n++
		return n
	}
	inc()
	inc()
	n += 10
	return inc() == 13 && n == 13
}

func testClosuresShare() bool {
	n := uint64(0)
	up := func() { n += 5 }
	get := func() uint64 { return n }
	up()
	up()
	return get() == 10
}

func testClosuresSeparate() bool {
	a, b := adder(1), adder(2)
	return a(10) == 11 && b(10) == 12
}

func testClosureRecursion() bool {
	var factorial func(uint64) uint64
	factorial = func(n uint64) uint64 {
		if n == 0 {
			return 1
		}
		return n * factorial(n-1)
	}
	return factorial(6) == 720
}

func testClosureInLoop() bool {
	var fs []func() uint64
	for i := uint64(0); i < 3; i++ {
		fs = append(fs, func() uint64 { return i })
	}
	return fs[0]() == 0 && fs[1]() == 1 && fs[2]() == 2
}

func testClosureInRange() bool {
	var fs []func() uint64
	for i, x := range []uint64{5, 6} {
		fs = append(fs, func() uint64 { return x*10 + uint64(i) })
	}
	return fs[0]() == 50 && fs[1]() == 61
}

func testRangeVariablePerIteration() bool {
	var ps []*int
	for i := range 3 {
		i *= 10
		ps = append(ps, &i)
	}
	return *ps[0] == 0 && *ps[1] == 10 && *ps[2] == 20
}

func testClosureInMap() bool {
	m := map[string]func(uint64) uint64{"double": double, "three": adder(3)}
	return m["double"](4) == 8 && m["three"](4) == 7
}

type machineState struct {
	step  func(uint64) uint64
	state uint64
}

func testFunctionField() bool {
	m := &machineState{step: adder(2)}
	m.state = m.step(m.state)
	m.step = double
	m.state = m.step(m.state)
	return m.state == 4
}

func testClosureEarlyReturn() bool {
	f := func(s []uint64) int {
		for i, x := range s {
			if x > 5 {
				return i
			}
		}
		return -1
	}
	return f([]uint64{1, 9, 10}) == 1 && f(nil) == -1
}

func testFunctionCalledAtOnce() bool {
	x := func(a, b uint64) uint64 { return a - b }(9, 4)
	func() { x++ }()
	return x == 6
}
