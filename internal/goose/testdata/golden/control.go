// Package control shows how control flow is encoded.
package control

func plainIf(x uint64) uint64 {
	r := x
	if x > 5 {
		r = 5
	}
	return r
}

func guard(x uint64) bool {
	if x == 0 {
		return false
	}
	if x == 1 {
		return true
	} else if x == 2 {
		return false
	}
	return x > 10
}

func joining(x uint64, p *uint64) uint64 {
	if x > 5 {
		if x > 50 {
			return 50
		}
		*p = x
	} else {
		if x == 0 {
			return 1
		}
		*p = 5
	}
	return *p
}

func plainLoop(n uint64) uint64 {
	sum := uint64(0)
	for i := uint64(0); i < n; i++ {
		sum += i
	}
	return sum
}

func skipping(s []uint64) uint64 {
	sum := uint64(0)
	for _, x := range s {
		if x%2 == 0 {
			continue
		}
		sum += x
	}
	return sum
}

func breaking(s []uint64, limit uint64) int {
	n := 0
	for i, x := range s {
		if x > limit {
			break
		}
		n = i
	}
	return n
}

func returning(s []uint64, x uint64) int {
	for i := range s {
		if s[i] == x {
			return i
		}
	}
	return -1
}

func nested(s [][]uint64) uint64 {
	for {
		for i, row := range s {
			for range 3 {
				if len(row) == i {
					return row[0]
				}
			}
			if i > 5 {
				break
			}
		}
		if len(s) == 0 {
			return 0
		}
	}
}

func switching(x uint64) uint64 {
	switch y := x / 2; y {
	case 0, 1:
		return 1
	default:
		x++
	case 2:
		x += 2
	}
	switch {
	case x > 100:
		panic("too large")
	case x > 10:
		x = 10
	}
	return x
}

func unitResult(m map[uint64]uint64) {
	for k, v := range m {
		if k == v {
			return
		}
	}
}

func anyEqual(m map[uint64]uint64) bool {
	for k := range m {
		if k == 7 {
			continue
		}
		if m[k] == 5 {
			return true
		}
	}
	return false
}

func lateBreak() {
	n := 0
	for n < 10 {
		n++
		if n == 5 {
			break
		}
	}
}
