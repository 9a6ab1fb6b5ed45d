package semantics

func testMake() bool {
	s := make([]uint64, 3)
	t := make([]byte, 2, 5)
	return len(s) == 3 && s[0] == 0 && s[2] == 0 && len(t) == 2 && cap(t) == 5
}

func testIndex() bool {
	s := make([]uint64, 3)
	for i := range s {
		s[i] = uint64(i) * 10
	}
	s[1] += 5
	s[2]++
	return s[0] == 0 && s[1] == 15 && s[2] == 21
}

func testIndexTypes() bool {
	s := []uint64{5, 6, 7}
	var i byte = 1
	var j uint64 = 2
	return s[i] == 6 && s[j] == 7 && s[0] == 5
}

func testSliceLiteral() bool {
	s := []uint64{3, 1, 4}
	t := []byte{2: 7, 8}
	u := []uint64{}
	return len(s) == 3 && s[2] == 4 && len(t) == 4 && t[2] == 7 && t[3] == 8 && t[0] == 0 && len(u) == 0 && u != nil
}

func testSliceOfPointers() bool {
	s := []*point{{1, 2}, {3, 4}}
	s[0].x = 9
	return s[0].x+s[1].y == 13
}

func testSliceOfSlices() bool {
	s := [][]byte{{1}, {2, 3}}
	s[0] = append(s[0], 4)
	s[1][0] = 5
	return len(s[0]) == 2 && s[0][1] == 4 && s[1][0] == 5
}

func testAliasing() bool {
	s := []uint64{1, 2, 3, 4}
	t := s[1:3]
	t[0] = 20
	return s[1] == 20 && len(t) == 2 && cap(t) == 3 && t[1] == 3
}

func testSliceForms() bool {
	s := []uint64{0, 1, 2, 3, 4}
	a, b, c, d := s[:2], s[3:], s[1:4], s[:]
	return len(a) == 2 && len(b) == 2 && b[0] == 3 && len(c) == 3 && c[2] == 3 && len(d) == 5
}

func testSliceToCapacity() bool {
	s := make([]uint64, 2, 6)
	t := s[1:5]
	t[3] = 7
	u := s[:6]
	return len(t) == 4 && u[4] == 7 && cap(t) == 5
}

func testSliceEmptyAtEnd() bool {
	s := []byte{1, 2}
	return len(s[2:]) == 0 && len(s[1:1]) == 0
}

func testNilSlice() bool {
	var s []uint64
	n := len(s)
	isNil := s == nil
	t := s[0:0]
	s = append(s, 1)
	return n == 0 && isNil && t == nil && s != nil && s[0] == 1
}

func testAppend() bool {
	var s []uint64
	for i := uint64(0); i < 20; i++ {
		s = append(s, i*i)
	}
	return len(s) == 20 && s[19] == 361 && cap(s) >= 20
}

func testAppendInPlace() bool {
	s := make([]uint64, 1, 4)
	t := append(s, 5)
	u := append(s, 6)
	return t[1] == 6 && u[1] == 6 && len(s) == 1
}

func testAppendCopiesWhenFull() bool {
	s := make([]uint64, 2, 2)
	t := append(s, 5)
	t[0] = 9
	return s[0] == 0 && t[0] == 9 && len(t) == 3
}

func testAppendMany() bool {
	s := []uint64{1}
	s = append(s, 2, 3, 4)
	t := append([]uint64{9, 8}, s...)
	return len(s) == 4 && s[3] == 4 && len(t) == 6 && t[1] == 8 && t[5] == 4
}

func testAppendNothing() bool {
	var none []byte
	s := append(none, none...)
	t := append([]byte{1}, none...)
	return s == nil && len(t) == 1
}

func testAppendItself() bool {
	s := []uint64{1, 2}
	s = append(s, s...)
	s = append(s, s[0], s[3])
	return len(s) == 6 && s[2] == 1 && s[3] == 2 && s[4] == 1 && s[5] == 2
}

func testAppendString() bool {
	b := append([]byte("ab"), "cd"...)
	return string(b) == "abcd"
}

func testCopy() bool {
	a := []uint64{1, 2, 3}
	b := make([]uint64, 2)
	n := copy(b, a)
	m := copy(a, []uint64{7})
	return n == 2 && b[0] == 1 && b[1] == 2 && m == 1 && a[0] == 7 && a[1] == 2
}

func testCopyOverlap() bool {
	a := []uint64{1, 2, 3, 4}
	copy(a[1:], a)
	b := []uint64{1, 2, 3, 4}
	copy(b, b[1:])
	return a[0] == 1 && a[1] == 1 && a[2] == 2 && a[3] == 3 && b[0] == 2 && b[2] == 4 && b[3] == 4
}

func testCopyString() bool {
	b := make([]byte, 3)
	n := copy(b, "hello")
	return n == 3 && string(b) == "hel"
}

func testRangeSlice() bool {
	sum, places := uint64(0), 0
	for i, x := range []uint64{5, 6, 7} {
		sum += x
		places += i
	}
	return sum == 18 && places == 3
}

func testRangeFixedLength() bool {
	s := []uint64{1, 2, 3}
	n := 0
	for range s {
		s = append(s, 0)
		n++
	}
	return n == 3 && len(s) == 6
}

func testRangeSeesWrites() bool {
	s := []uint64{1, 2, 3}
	sum := uint64(0)
	for i, x := range s {
		sum += x
		if i == 0 {
			s[2] = 10
		}
	}
	return sum == 13
}

func testRangeReassigned() bool {
	s := []uint64{1, 2, 3}
	sum := uint64(0)
	for _, x := range s {
		s = nil
		sum += x
	}
	return sum == 6 && s == nil
}

func testRangeValueIsCopy() bool {
	s := []point{{1, 2}, {3, 4}}
	for _, p := range s {
		p.x = 100
	}
	return s[0].x == 1 && s[1].x == 3
}

func testRangeInt() bool {
	sum := 0
	for i := range 5 {
		sum += i
	}
	n := 0
	for range 3 {
		n++
	}
	for i := range uint64(4) {
		n += int(i)
	}
	for range -2 {
		n = 100
	}
	return sum == 10 && n == 9
}

func testRangeOuterVariable() bool {
	i := 100
	var x uint64
	for i, x = range []uint64{4, 5} {
	}
	return i == 1 && x == 5
}

func testBoolSlice() bool {
	s := make([]bool, 2)
	s[1] = !s[0]
	return !s[0] && s[1]
}

func reverse(s []uint64) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}

func testReverse() bool {
	s := []uint64{1, 2, 3, 4, 5}
	reverse(s)
	return s[0] == 5 && s[1] == 4 && s[2] == 3 && s[3] == 2 && s[4] == 1
}

func sortSlice(s []uint64) {
	for i := 1; i < len(s); i++ {
		for j := i; j > 0 && s[j-1] > s[j]; j-- {
			s[j-1], s[j] = s[j], s[j-1]
		}
	}
}

func testSort() bool {
	s := []uint64{5, 2, 9, 1, 5, 6}
	sortSlice(s)
	for i := 1; i < len(s); i++ {
		if s[i-1] > s[i] {
			return false
		}
	}
	return s[0] == 1 && s[5] == 9
}
