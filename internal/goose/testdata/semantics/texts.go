package semantics

import "github.com/ashlar-dev/ashlar/goose/primitive/machine"

const greeting = "hello"

func testStringBasics() bool {
	s := greeting + ", " + "world"
	return len(s) == 12 && s[0] == 'h' && s[11] == 'd' && s == "hello, world" && s != "" && len("") == 0
}

func testStringBytes() bool {
	s := "aé\x00\n\"(*"
	return len(s) == 8 && s[1] == 0xc3 && s[2] == 0xa9 && s[3] == 0 && s[4] == 10 && s[5] == '"'
}

func testStringSlices() bool {
	s := "abcdef"
	return s[1:3] == "bc" && s[:2] == "ab" && s[4:] == "ef" && s[:] == s && s[6:] == ""
}

func testStringConversionCopies() bool {
	s := "abc"
	b := []byte(s)
	b[0] = 'x'
	t := string(b)
	b[1] = 'y'
	return s == "abc" && t == "xbc" && string(b) == "xyc" && string(b[:0]) == ""
}

func testStringBuild() bool {
	s := ""
	for i := range 4 {
		s += string([]byte{'a' + byte(i)})
	}
	return s == "abcd"
}

func testStringZero() bool {
	var s string
	s += "x"
	return s == "x"
}

func parse(s string) (uint64, bool) {
	n := uint64(0)
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + uint64(s[i]-'0')
	}
	return n, len(s) > 0
}

func testParse() bool {
	n, ok := parse("1234")
	_, bad := parse("12x")
	_, none := parse("")
	return n == 1234 && ok && !bad && !none
}

func testMachineText() bool {
	return machine.UInt64ToString(0) == "0" && machine.UInt64ToString(18446744073709551615) == "18446744073709551615"
}

func testMachineBytes() bool {
	b := make([]byte, 10)
	machine.UInt64Put(b[1:], 0x0102030405060708)
	return b[0] == 0 && b[1] == 8 && b[8] == 1 && b[9] == 0 && machine.UInt64Get(b[1:]) == 0x0102030405060708 &&
		machine.UInt64Get(b) == 0x0203040506070800
}

func testMachineRandom() bool {
	x := machine.RandomUint64()
	return x == x && x/2 <= 9223372036854775807
}
