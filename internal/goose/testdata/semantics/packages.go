package semantics

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"
)

func testMinMax() bool {
	a, b := uint64(3), uint64(200)
	return min(a, b) == 3 && max(a, b) == 200 && min(b, 100, a) == 3 && max(-1, len("abc")) == 3
}

func testClear() bool {
	m := map[uint64]uint64{1: 2}
	s := []uint64{1, 2, 3}
	clear(m)
	clear(s[1:])
	var none map[uint64]uint64
	clear(none)
	return len(m) == 0 && s[0] == 1 && s[1] == 0 && s[2] == 0
}

func testSliceWithCapacity() bool {
	s := []uint64{1, 2, 3, 4}
	t := s[1:2:2]
	t = append(t, 9)
	u := s[:1:3]
	u = append(u, 8)
	var none []uint64
	return s[2] == 3 && t[1] == 9 && s[1] == 8 && cap(s[1:2:3]) == 2 && none[0:0:0] == nil
}

func testBytes() bool {
	a, b, c := []byte("abc"), []byte("abd"), []byte("ab")
	return bytes.Compare(a, b) == -1 && bytes.Compare(b, a) == 1 && bytes.Compare(a, c) == 1 && bytes.Compare(c, a) == -1 &&
		bytes.Compare(a, []byte("abc")) == 0 && bytes.Compare(nil, nil) == 0 && bytes.Compare(nil, a) == -1 &&
		bytes.Equal(a, []byte("abc")) && !bytes.Equal(a, b) && !bytes.Equal(a, c) && bytes.Equal(nil, a[:0]) &&
		bytes.HasPrefix(a, c) && !bytes.HasPrefix(c, a) && bytes.HasPrefix(a, nil) && !bytes.HasPrefix(a, []byte("b"))
}

func testClone() bool {
	a := []byte("abc")
	b := bytes.Clone(a)
	b[0] = 'x'
	s := []uint64{1, 2}
	t := slices.Clone(s)
	t[0] = 5
	return a[0] == 'a' && len(b) == 3 && bytes.Clone(nil) == nil && bytes.Clone(a[:0]) != nil && s[0] == 1 && t[1] == 2 &&
		slices.Clone([]uint64(nil)) == nil && slices.Clone(s[:0]) != nil
}

func testCompare() bool {
	a, b := uint64(18446744073709551615), uint64(1)
	x, y := -5, 3
	return cmp.Compare(a, b) == 1 && cmp.Compare(b, a) == -1 && cmp.Compare(a, a) == 0 && cmp.Compare(x, y) == -1 &&
		cmp.Or(0, 0, y, x) == 3 && cmp.Or(0, 0) == 0 && cmp.Or(x) == -5
}

func testLittleEndian() bool {
	b := make([]byte, 8)
	binary.LittleEndian.PutUint64(b, 0x0807060504030201)
	c := binary.LittleEndian.AppendUint32([]byte{9}, 0xddccbbaa)
	c = binary.LittleEndian.AppendUint16(c, 0x2211)
	c = binary.LittleEndian.AppendUint64(c, 3)
	binary.LittleEndian.PutUint16(b[6:], 0xffee)
	binary.LittleEndian.PutUint32(b[2:], 0x44332211)
	return b[0] == 1 && b[1] == 2 && b[2] == 0x11 && b[5] == 0x44 && b[6] == 0xee && b[7] == 0xff && len(c) == 15 && c[1] == 0xaa && c[4] == 0xdd && c[5] == 0x11 &&
		binary.LittleEndian.Uint64(b) == 0xffee443322110201 && binary.LittleEndian.Uint32(c[1:]) == 0xddccbbaa && binary.LittleEndian.Uint16(c[5:]) == 0x2211
}

func testBigEndian() bool {
	b := make([]byte, 8)
	binary.BigEndian.PutUint64(b, 0x0807060504030201)
	c := binary.BigEndian.AppendUint32([]byte{9}, 0xddccbbaa)
	c = binary.BigEndian.AppendUint16(c, 0x2211)
	c = binary.BigEndian.AppendUint64(c, 3)
	binary.BigEndian.PutUint16(b[6:], 0xffee)
	binary.BigEndian.PutUint32(b[2:], 0x44332211)
	return b[0] == 8 && b[1] == 7 && b[2] == 0x44 && b[5] == 0x11 && b[6] == 0xff && b[7] == 0xee && len(c) == 15 && c[1] == 0xdd && c[4] == 0xaa && c[14] == 3 &&
		binary.BigEndian.Uint64(b) == 0x080744332211ffee && binary.BigEndian.Uint32(c[1:]) == 0xddccbbaa && binary.BigEndian.Uint16(c[5:]) == 0x2211
}

func testUvarint() bool {
	for _, x := range []uint64{0, 1, 127, 128, 300, 1 << 32, 18446744073709551615} {
		b := binary.AppendUvarint([]byte{7}, x)
		y, n := binary.Uvarint(b[1:])
		short, m := binary.Uvarint(b[1 : len(b)-1])
		if y != x || n != len(b)-1 || m != 0 || short != 0 {
			return false
		}
	}
	large := bytes.Clone([]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 2})
	_, n := binary.Uvarint(large)
	large[9] = 255
	large = append(large, 0)
	_, m := binary.Uvarint(large)
	return n == -10 && m == -11
}

func testBits() bool {
	x := uint64(0xf0f0_0000_0000_0010)
	hi, lo := bits.Mul64(0xffff_ffff_ffff_fffe, 0xffff_ffff_0000_0003)
	a, b := bits.Mul64(1<<63, 2)
	return bits.OnesCount64(x) == 9 && bits.OnesCount16(0xffff) == 16 && bits.Len64(x) == 64 && bits.Len64(0) == 0 && bits.Len(5) == 3 &&
		bits.LeadingZeros64(1) == 63 && bits.LeadingZeros32(1) == 31 && bits.TrailingZeros64(x) == 4 && bits.TrailingZeros64(0) == 64 &&
		bits.TrailingZeros32(8) == 3 && hi == 0xffff_ffff_0000_0001 && lo == 0x1_ffff_fffa && a == 1 && b == 0
}

func testMul64() bool {
	hi, lo := bits.Mul64(0xffff_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff)
	a, b := bits.Mul64(0x1234_5678_9abc_def0, 0x0fed_cba9_8765_4321)
	return hi == 0xffff_ffff_ffff_fffe && lo == 1 && a == 0x0121_fa00_ad77_d742 && b == 0x2236_d88f_e561_8cf0
}

func testInsert() bool {
	s := slices.Insert([]uint64{1, 2, 3}, 1, 9)
	full := []uint64{1, 2}
	t := slices.Insert(full[:2:2], 2, 5)
	t[0] = 7
	room := make([]uint64, 2, 4)
	u := slices.Insert(room, 0, 6)
	u[1] = 8
	return len(s) == 4 && s[0] == 1 && s[1] == 9 && s[2] == 2 && s[3] == 3 && full[0] == 1 && t[2] == 5 && len(u) == 3 && room[0] == 6 && room[1] == 8
}

func testDelete() bool {
	s := []uint64{1, 2, 3, 4, 5}
	t := slices.Delete(s, 1, 3)
	return len(t) == 3 && t[0] == 1 && t[1] == 4 && t[2] == 5 && s[3] == 0 && s[4] == 0 && len(slices.Delete(t, 1, 1)) == 3
}

func testReplace() bool {
	s := []uint64{1, 2, 3, 4}
	t := slices.Replace(s, 1, 3, []uint64{9}...)
	more := []uint64{5, 6, 7}
	u := slices.Replace([]uint64{1, 2}, 1, 2, more...)
	none := slices.Replace([]uint64{1, 2}, 0, 0, more[:0]...)
	return len(t) == 3 && t[1] == 9 && t[2] == 4 && s[3] == 0 && len(u) == 4 && u[0] == 1 && u[1] == 5 && u[3] == 7 && len(none) == 2
}

func testReverseAndFind() bool {
	s := []uint64{1, 2, 3, 4, 5}
	slices.Reverse(s)
	slices.Reverse(s[:2])
	return s[0] == 4 && s[1] == 5 && s[2] == 3 && s[4] == 1 && slices.Contains(s, 3) && !slices.Contains(s, 9) && slices.Index(s, 1) == 4 && slices.Index(s, 7) == -1 &&
		cap(slices.Clip(s[:2])) == 2
}

func testLibrarySort() bool {
	s := []uint64{5, 1, 4, 1, 3}
	slices.Sort(s)
	t := []pairOfSort{{3, 1}, {1, 2}, {2, 3}}
	slices.SortFunc(t, func(a, b pairOfSort) int { return cmp.Compare(a.key, b.key) })
	return s[0] == 1 && s[1] == 1 && s[2] == 3 && s[3] == 4 && s[4] == 5 && t[0].value == 2 && t[1].value == 3 && t[2].value == 1
}

type pairOfSort struct{ key, value uint64 }

func testSearch() bool {
	s := []uint64{10, 20, 30}
	i, found := slices.BinarySearch(s, 20)
	j, missing := slices.BinarySearch(s, 25)
	k, last := slices.BinarySearchFunc(s, 4, func(x uint64, n int) int { return cmp.Compare(x, uint64(n)*10) })
	n := sort.Search(len(s), func(i int) bool { return s[i] >= 15 })
	return i == 1 && found && j == 2 && !missing && k == 3 && !last && n == 1
}
