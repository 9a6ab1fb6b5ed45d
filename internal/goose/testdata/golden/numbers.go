// Package numbers shows integers of all widths.
package numbers

type slot uint64

const (
	none         = 0
	big          = 1 << 40
	low          = -5
	last    slot = 9
	debug        = false
	name         = "na\"me"
	odd          = "\x00\n"
	newline      = '\n'
)

func widths(a byte, b uint16, c uint32, d uint64, e int, f int64) uint64 {
	return uint64(a) + uint64(b) + uint64(c) + d + uint64(e) + uint64(f)
}

func operators(x, y uint64) uint64 {
	return (x+y)*(x-y)/y%7 + (x&y | x ^ y) - x&^y + x<<3>>y + ^x + -y
}

func signed(x, y int) int { return -x/y%3 + x>>1 + low }

func constants(s slot) bool {
	x := byte(none)
	return s < last && uint64(s) != big && int(s) > big && x == none && !debug && name != odd
}

func isNewline(b byte) bool { return b == newline || b == 'x' }

func narrow(x uint64) byte {
	x <<= 8
	x &^= 15
	y := byte(x >> 4)
	y++
	return y
}
