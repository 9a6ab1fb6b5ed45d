package semantics

type grid struct {
	name  uint64
	cells [3][2]uint64
	after uint64
}

func testArrayZeroAndStore() bool {
	var a [4]uint64
	a[2] = 7
	i := 3
	a[i] += 2
	return a[0] == 0 && a[2] == 7 && a[3] == 2 && len(a) == 4 && cap(a) == 4
}

func testArrayIsCopied() bool {
	a := [3]uint64{1, 2, 3}
	b := a
	b[0] = 9
	c := &a
	c[1] = 8
	return a[0] == 1 && b[0] == 9 && a[1] == 8 && b[1] == 2
}

func changeArray(a [2]uint64) uint64 {
	a[0] = 5
	return a[0] + a[1]
}

func testArrayIsPassedByValue() bool {
	a := [2]uint64{1, 2}
	return changeArray(a) == 7 && a[0] == 1
}

func testArrayInStruct() bool {
	g := grid{name: 1, after: 2}
	h := g
	g.cells[1][1] = 4
	g.cells[2] = [2]uint64{5, 6}
	p := &g
	p.cells[0][0]++
	return g.cells[0][0] == 1 && g.cells[1][1] == 4 && g.cells[2][0] == 5 && g.cells[2][1] == 6 &&
		h.cells[1][1] == 0 && g.name == 1 && g.after == 2
}

func testArrayOfSliceElement() bool {
	s := make([]grid, 2)
	s[1].cells[2][1] = 3
	s[0] = s[1]
	s[1].cells[2][1] = 4
	return s[0].cells[2][1] == 3 && s[1].cells[2][1] == 4 && s[0].cells[2][0] == 0
}

func testArrayLiteralWithKeys() bool {
	a := [...]byte{4: 1, 2, 0: 3}
	return len(a) == 6 && a[0] == 3 && a[1] == 0 && a[4] == 1 && a[5] == 2
}

func testArrayEquality() bool {
	a, b := [2]uint64{1, 2}, [2]uint64{1, 2}
	same := a == b
	b[1] = 3
	return same && a != b
}

func testArraySlicesShareIt() bool {
	a := [4]uint64{1, 2, 3, 4}
	s := a[1:3]
	s[0] = 9
	s = append(s, 8)
	t := a[:]
	return a[1] == 9 && a[3] == 8 && len(t) == 4 && cap(s) == 3 && len(a[:2]) == 2 && cap(a[1:2:3]) == 2
}

func makeArray() [3]uint64 { return [3]uint64{4, 5, 6} }

func testArrayValueIsIndexed() bool {
	i := 2
	return makeArray()[i] == 6 && makeArray()[0] == 4
}

func testRangeOverArrayCopies() bool {
	a := [3]uint64{1, 2, 3}
	sum := uint64(0)
	for i, x := range a {
		a[2] = 100
		sum = sum*10 + x + uint64(i)
	}
	return sum == 135
}

func testRangeOverArrayPointerSeesChanges() bool {
	a := [3]uint64{1, 2, 3}
	sum := uint64(0)
	for _, x := range &a {
		a[2] = 50
		sum += x
	}
	n := 0
	for range a {
		n++
	}
	for i := range a {
		n += i
	}
	return sum == 53 && n == 6
}

func testArrayAsMapKey() bool {
	m := map[[2]byte]uint64{}
	m[[2]byte{1, 2}] = 5
	k := [2]byte{1}
	k[1] = 2
	return m[k] == 5 && m[[2]byte{2, 1}] == 0
}

func testArrayCapturedByLiteral() bool {
	var a [2]uint64
	set := func(i int, x uint64) { a[i] = x }
	set(1, 3)
	set(0, 4)
	return a[0] == 4 && a[1] == 3
}

func (g *grid) set(i int, x uint64) { g.cells[i][0] = x }

func (g grid) sum() uint64 {
	g.cells[0][0] += 100
	return g.cells[0][0] + g.cells[1][0]
}

func testMethodsOfArrayElements() bool {
	var gs [2]grid
	gs[1].set(0, 3)
	gs[1].set(1, 4)
	return gs[1].sum() == 107 && gs[1].cells[0][0] == 3 && gs[0].cells[0][0] == 0
}

var letters = [...]string{2: "two", 0: "zero"}

var limit, unset = uint64(40), uint64(0)

func testConstantVariables() bool {
	i := 2
	return letters[i] == "two" && letters[1] == "" && len(letters) == 3 && limit+unset == 40
}
