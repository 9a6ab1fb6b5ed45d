package semantics

func testMapBasics() bool {
	m := make(map[uint64]uint64)
	m[1] = 10
	m[2] = 20
	m[1]++
	m[3] += 5
	v, ok := m[1]
	w, missing := m[9]
	return len(m) == 3 && v == 11 && ok && w == 0 && !missing && m[3] == 5 && m[7] == 0
}

func testMapDelete() bool {
	m := map[string]uint64{"a": 1, "b": 2}
	delete(m, "a")
	delete(m, "none")
	_, ok := m["a"]
	return len(m) == 1 && !ok && m["b"] == 2
}

func testMapNil() bool {
	var m map[string]uint64
	v, ok := m["a"]
	delete(m, "a")
	n := 0
	for range m {
		n++
	}
	return m == nil && len(m) == 0 && v == 0 && !ok && m["b"] == 0 && n == 0
}

func testMapIsReference() bool {
	m := map[uint64]bool{}
	n := m
	n[5] = true
	return m[5] && len(m) == 1
}

func testMapRange() bool {
	m := map[uint64]uint64{1: 10, 2: 20, 3: 30}
	keys, values := uint64(0), uint64(0)
	for k, v := range m {
		keys += k
		values += v
	}
	return keys == 6 && values == 60
}

func testMapRangeBreak() bool {
	m := map[uint64]uint64{1: 10, 2: 20, 3: 30}
	n := 0
	for k := range m {
		if k > 0 {
			n++
			break
		}
	}
	return n == 1
}

func hasValue(m map[string]uint64, x uint64) bool {
	for _, v := range m {
		if v != x {
			continue
		}
		return true
	}
	return false
}

func testMapRangeReturn() bool {
	m := map[string]uint64{"a": 1, "b": 2}
	found := hasValue(m, 2)
	m["c"] = 3
	return found && !hasValue(m, 9) && len(m) == 3
}

func testMapOfStructs() bool {
	m := map[point]point{}
	m[point{1, 2}] = point{3, 4}
	p := m[point{1, 2}]
	p.x = 100
	return m[point{1, 2}].x == 3 && m[point{0, 0}].y == 0 && p.y == 4
}

func testMapOfSlices() bool {
	m := map[uint64][]byte{}
	m[1] = append(m[1], 5)
	m[1] = append(m[1], 6)
	return len(m[1]) == 2 && m[1][1] == 6 && m[2] == nil
}

func testMapOverwrite() bool {
	m := map[bool]string{true: "a"}
	m[true] = "b"
	m[false] = "c"
	return len(m) == 2 && m[true]+m[false] == "bc"
}

func testMapCount() bool {
	m := map[byte]int{}
	for _, b := range []byte("hello world") {
		m[b]++
	}
	return m['l'] == 3 && m['o'] == 2 && m['h'] == 1 && m['x'] == 0
}
