package semantics

func testWrap64() bool {
	var x uint64 = 18446744073709551615
	y := x + 1
	z := x * x
	return y == 0 && z == 1 && 0-x == 1
}

func testWrap32() bool {
	var x uint32 = 4294967295
	y := x + 2
	three := uint32(3)
	return y == 1 && x*x == 1 && three-5 == 4294967294
}

func testWrap16() bool {
	var x uint16 = 65535
	y := x + 1
	return y == 0 && x*x == 1
}

func testWrap8() bool {
	var x byte = 255
	x++
	y := x - 1
	return x == 0 && y == 255
}

func testWrapInt() bool {
	var x int64 = 9223372036854775807
	y := x + 1
	var lowest int64 = -9223372036854775808
	return y == lowest && -lowest == lowest && lowest-1 == x && lowest*lowest == 0
}

func testSignedDivision() bool {
	a, b := -7, 2
	return a/b == -3 && a%b == -1 && 7/(-b) == -3 && 7%(-b) == 1 && a/(-b) == 3
}

func testSignedDivisionOverflow() bool {
	var lowest int64 = -9223372036854775808
	one := int64(-1)
	return lowest/one == lowest && lowest%one == 0
}

func testUnsignedDivision() bool {
	var a, b uint64 = 17, 5
	return a/b == 3 && a%b == 2 && b/a == 0
}

func testShiftLeft() bool {
	var x uint64 = 1
	n := uint64(63)
	return x<<3 == 8 && x<<n == 9223372036854775808 && x<<n<<1 == 0
}

func testShiftTooFar() bool {
	var x uint64 = 12345
	var s int = 64
	var b byte = 255
	var big uint64 = 1000000
	return x<<s == 0 && x>>s == 0 && b<<8 == 0 && b>>big == 0 && b<<4 == 240
}

func testShiftSigned() bool {
	x := -8
	n := 70
	return x>>1 == -4 && x>>n == -1 && x<<1 == -16 && x<<n == 0 && 8>>n == 0
}

func testShiftOverflowSigned() bool {
	var x int64 = 3
	return x<<62 == -4611686018427387904 && x<<63 == -9223372036854775808
}

func testBitOperations() bool {
	var a, b uint64 = 12, 10
	return a&b == 8 && a|b == 14 && a^b == 6 && a&^b == 4 && ^a == 18446744073709551603
}

func testBitOperationsSigned() bool {
	a, b := -4, 7
	return a&b == 4 && a|b == -1 && a^b == -5 && ^a == 3 && a&^b == -8
}

func testBitComplementNarrow() bool {
	var a byte = 15
	var b uint16 = 1
	return ^a == 240 && ^b == 65534
}

func testConvertNarrow() bool {
	var x uint64 = 0x123456789abcdef0
	return byte(x) == 0xf0 && uint16(x) == 0xdef0 && uint32(x) == 0x9abcdef0
}

func testConvertSigned() bool {
	var x uint64 = 18446744073709551615
	y := int(x)
	z := uint64(y - 1)
	return y == -1 && z == 18446744073709551614 && int64(y) == -1
}

func testConvertWiden() bool {
	var b byte = 200
	x := -1
	return uint64(b) == 200 && int(b) == 200 && uint32(b)+100 == 300 && byte(x) == 255 && uint32(x) == 4294967295
}

func testComparisons() bool {
	var a, b uint64 = 3, 4
	return a < b && a <= b && b > a && b >= a && a != b && !(a == b) && a <= a && a >= a
}

func testComparisonSigned() bool {
	x, y := -1, 1
	return x < y && uint64(x) > uint64(y)
}

func testUnaryMinus() bool {
	var a uint64 = 5
	b := 5
	return -a == 18446744073709551611 && -b == -5 && +b == 5
}

func testOpAssign() bool {
	x := uint64(10)
	x += 5
	x -= 3
	x *= 4
	x /= 5
	x %= 7
	x <<= 3
	x >>= 1
	x |= 1
	x &= 15
	x ^= 2
	x &^= 4
	return x == 11
}

func testIncDec() bool {
	x := 5
	x++
	x++
	x--
	var b byte
	b--
	return x == 6 && b == 255
}

const (
	first = iota
	second
	third
)

const (
	kilo uint64 = 1 << (10 * (iota + 1))
	mega
)

type colour uint32

const (
	red colour = iota + 1
	green
)

func testConstants() bool {
	const local = 7
	return first == 0 && second == 1 && third == 2 && kilo == 1024 && mega == 1048576 && green-red == 1 && local*2 == 14
}

func testConstantWidths() bool {
	x := uint64(third)
	var y byte = third
	return x+uint64(y) == 4
}

func testNamedInteger() bool {
	c := red
	c++
	return c == green && uint64(c) == 2
}

func isPrime(n uint64) bool {
	for d := uint64(2); d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return n > 1
}

func testPrimes() bool {
	count := uint64(0)
	for n := uint64(0); n < 50; n++ {
		if isPrime(n) {
			count++
		}
	}
	return count == 15
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func testGcd() bool { return gcd(252, 105) == 21 && gcd(7, 0) == 7 }

func fibonacci(n uint64) uint64 {
	if n < 2 {
		return n
	}
	return fibonacci(n-1) + fibonacci(n-2)
}

func testRecursion() bool { return fibonacci(10) == 55 }

func resultMixed() uint64 {
	h := uint64(14695981039346656037)
	for i := range uint64(20) {
		h ^= i
		h *= 1099511628211
	}
	return h
}
