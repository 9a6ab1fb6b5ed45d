package semantics

func testIfElse() bool {
	x := 5
	r := 0
	if x > 10 {
		r = 1
	} else if x > 4 {
		r = 2
	} else {
		r = 3
	}
	if x == 6 {
		r = 10
	}
	return r == 2
}

func testIfInit() bool {
	r := 0
	if x := 5; x > 3 {
		r = x
	} else {
		r = -x
	}
	return r == 5
}

func classify(n uint64) string {
	if n == 0 {
		return "zero"
	}
	if n < 10 {
		if n%2 == 0 {
			return "even"
		}
	} else {
		return "large"
	}
	return "odd"
}

func testEarlyReturn() bool {
	return classify(0) == "zero" && classify(4) == "even" && classify(5) == "odd" && classify(50) == "large"
}

func nothingAbove(n int, p *int) {
	if n > 10 {
		return
	}
	*p += n
	if n > 5 {
		*p += 100
		return
	}
	*p++
}

func testReturnNothing() bool {
	x := 0
	nothingAbove(20, &x)
	nothingAbove(7, &x)
	nothingAbove(2, &x)
	return x == 110
}

func testForBreak() bool {
	n := 0
	for i := 0; i < 10; i++ {
		if i == 5 {
			break
		}
		n += i
	}
	return n == 10
}

func testForContinue() bool {
	n := 0
	for i := 0; i < 10; i++ {
		if i%2 == 0 {
			continue
		}
		n += i
	}
	return n == 25
}

func testForContinueInMiddle() bool {
	n := 0
	for i := 0; i < 10; i++ {
		if i < 8 {
			if i%2 == 0 {
				continue
			}
			n++
		}
		n += 10
	}
	return n == 64
}

func testForBreakInMiddle() bool {
	n, i := 0, 0
	for {
		i++
		if i > 3 {
			if n > 50 {
				break
			}
			n += 20
		}
		n++
	}
	return n == 66 && i == 7
}

func find(s [][]uint64, x uint64) (int, int, bool) {
	for i, row := range s {
		for j, y := range row {
			if y == x {
				return i, j, true
			}
			if y > 100 {
				break
			}
			if y > 50 {
				continue
			}
		}
	}
	return -1, -1, false
}

func testReturnFromNestedLoops() bool {
	s := [][]uint64{{1, 200, 3}, {60, 7}, {}}
	i, j, ok := find(s, 7)
	_, _, hidden := find(s, 3)
	a, _, none := find(s, 8)
	return i == 1 && j == 1 && ok && !hidden && !none && a == -1
}

func firstAbove(limit uint64) uint64 {
	x := uint64(1)
	for {
		x *= 3
		if x > limit {
			return x
		}
	}
}

func testForEver() bool { return firstAbove(100) == 243 }

func testNestedBreak() bool {
	n := 0
	for i := 0; i < 3; i++ {
		for j := 0; j < 3; j++ {
			if j == 2 {
				break
			}
			n += 10*i + j
		}
		n += 1000
	}
	return n == 3063
}

func word(n int) string {
	switch n {
	case 0:
		return "none"
	case 1, 2, 3:
		return "few"
	}
	switch {
	case n < 0:
		return "negative"
	case n%2 == 0:
		return "even"
	default:
		return "odd"
	}
}

func testSwitch() bool {
	return word(0) == "none" && word(2) == "few" && word(-5) == "negative" && word(8) == "even" && word(9) == "odd"
}

func testSwitchDefaultFirst() bool {
	n := 0
	for i := range 4 {
		switch i {
		default:
			n += 100
		case 1:
			n++
		case 2:
			continue
		}
		n += 10
	}
	return n == 231
}

func testSwitchInit() bool {
	r := ""
	switch x := len(r) + 2; x {
	case 2:
		r = "two"
	}
	return r == "two"
}

func testSwitchString() bool {
	r := 0
	switch greeting {
	case "bye":
		r = 1
	case "hello", "hi":
		r = 2
	}
	return r == 2
}

func testShadowing() bool {
	x := 1
	y := 0
	if x == 1 {
		x := 10
		x++
		y = x
	}
	{
		x := "text"
		y += len(x)
	}
	for x := 0; x < 2; x++ {
		y += 100
	}
	return x == 1 && y == 215
}

func shadowAfterReturn(n int) int {
	x := 5
	if n > 3 {
		return n
	} else {
		x := n * 2
		if x == 4 {
			return x
		}
	}
	return x
}

func testShadowingAcrossBranches() bool {
	return shadowAfterReturn(9) == 9 && shadowAfterReturn(2) == 4 && shadowAfterReturn(1) == 5
}

func testShadowedParameter() bool {
	f := func(x int) int {
		if x > 0 {
			x := x + 1
			return x
		}
		return x
	}
	return f(1) == 2 && f(-1) == -1
}

func shortCircuit(p *int, b bool) bool {
	*p++
	return b
}

func testShortCircuit() bool {
	n := 0
	a := shortCircuit(&n, false) && shortCircuit(&n, true)
	b := shortCircuit(&n, true) || shortCircuit(&n, false)
	var s []uint64
	c := len(s) > 0 && s[0] == 5
	return !a && b && !c && n == 2
}

func twoResults(x uint64) (uint64, uint64) { return x / 10, x % 10 }

func threeResults() (uint64, string, bool) { return 1, "x", true }

func testMultipleResults() bool {
	a, b := twoResults(42)
	_, c := twoResults(57)
	n, s, ok := threeResults()
	a, d := twoResults(99)
	return b == 2 && c == 7 && n == 1 && s == "x" && ok && a == 9 && d == 9
}

func passOn(x uint64) (uint64, uint64) { return twoResults(x + 1) }

func testResultsPassedOn() bool {
	a, b := passOn(11)
	return a == 1 && b == 2
}

func namedResults(x uint64) (half uint64, odd bool) { return x / 2, x%2 == 1 }

func testNamedResults() bool {
	h, odd := namedResults(7)
	return h == 3 && odd
}

func testParallelAssignment() bool {
	a, b := 1, 2
	a, b = b, a
	s := []int{10, 20, 30}
	i := 0
	i, s[i] = 2, 99
	s[0], s[1], s[2] = s[2], s[0], s[1]
	return a == 2 && b == 1 && i == 2 && s[0] == 30 && s[1] == 99 && s[2] == 20
}

func testAssignResultsToPlaces() bool {
	p := &point{}
	s := make([]uint64, 2)
	m := map[string]uint64{}
	p.x, s[1] = twoResults(34)
	m["a"], p.y = twoResults(56)
	return p.x == 3 && s[1] == 4 && m["a"] == 5 && p.y == 6
}

func testLoopCountsDown() bool {
	n := 0
	for i := 5; i > 0; i-- {
		n = n*10 + i
	}
	return n == 54321
}

func testLoopTwoVariables() bool {
	n := 0
	for i, j := 0, 10; i < j; i, j = i+1, j-2 {
		n += j - i
	}
	return n == 22
}

func mustBeSmall(x uint64) uint64 {
	if x > 100 {
		panic("too large")
	}
	return x
}

func testPanicNotReached() bool { return mustBeSmall(5) == 5 }
