package semantics

func testInt8Wraps() bool {
	var x int8 = 127
	x++
	y := x
	y--
	least := int8(-128)
	minus := int8(-1)
	return x == -128 && y == 127 && -least == -128 && least/minus == -128 && least%minus == 0 && least*minus == -128
}

func testInt16Wraps() bool {
	x := int16(32767)
	y := x + 1
	x *= 2
	return y == -32768 && x == -2
}

func testInt32Wraps() bool {
	x := int32(2147483647)
	y := x + 2
	z := x * x
	x -= -1
	return y == -2147483647 && z == 1 && x == -2147483648
}

func testSmallShifts() bool {
	x := int8(1)
	n := 7
	m := 64
	y := int32(-8)
	return x<<n == -128 && x<<6 == 64 && x<<8 == 0 && x<<m == 0 && y>>1 == -4 && y>>40 == -1 && y<<29 == 0 && y<<28 == -2147483648
}

func testSmallBits() bool {
	x, y := int8(-86), int8(15)
	return x&y == 10 && x|y == -81 && x^y == -91 && ^x == 85 && x&^y == -96
}

func testSmallConversions() bool {
	big := uint64(0xffff_ffff_8000_0001)
	minus := int32(-1)
	b := byte(200)
	i := 70000
	return int32(big) == -2147483647 && int8(big) == 1 && uint64(minus) == 18446744073709551615 && uint32(minus) == 4294967295 &&
		byte(minus) == 255 && int8(b) == -56 && int16(i) == 4464 && int(int16(-5)) == -5 && int64(minus) == -1
}

func testSmallOrder() bool {
	a, b := int32(-3), int32(2)
	return a < b && b > a && a <= -3 && !(a >= b) && min(a, b) == -3 && max(a, b, 1) == 2
}

func testRangeOverInt32() bool {
	n := int32(0)
	for i := range int32(4) {
		n += i
	}
	var none int8 = -3
	for range none {
		n = 100
	}
	return n == 6
}

func testUint() bool {
	lo, hi := 7, 10
	mid := int(uint(lo+hi) >> 1)
	x := uint(0)
	x--
	return mid == 8 && x == 18446744073709551615
}

func testRunes() bool {
	r := 'x'
	return r == 120 && uint64(r-'a') == 23
}

func testSmallInMemory() bool {
	s := make([]int32, 2)
	s[1]--
	m := map[int8]int16{}
	m[-1] = 300
	m[-1] *= 300
	return s[1] == -1 && s[0] == 0 && m[-1] == 24464
}
