// Package program has functions that panic, each beside one that just does not.
package program

import (
	"encoding/binary"
	"errors"
	"slices"
)

type node struct {
	value uint64
	next  *node
}

func IndexAtLength() uint64 {
	s := make([]uint64, 3)
	i := uint64(3)
	return s[i]
}

func IndexBelowLength() uint64 {
	s := make([]uint64, 3)
	i := uint64(2)
	return s[i]
}

func IndexNegative() uint64 {
	s := make([]uint64, 3)
	i := len(s) - 4
	return s[i]
}

func IndexOfNil() uint64 {
	var s []uint64
	return s[len(s)]
}

func IndexWithinCapacity() uint64 {
	s := make([]uint64, 1, 4)
	i := 1
	return s[i]
}

func StoreAtLength() uint64 {
	s := []uint64{1, 2}
	s[len(s)] = 5
	return s[0]
}

func StringIndexAtLength() uint64 {
	s := "abc"
	i := len(s)
	return uint64(s[i])
}

func StringIndexBelowLength() uint64 {
	s := "abc"
	i := len(s) - 1
	return uint64(s[i])
}

func SliceBeyondCapacity() uint64 {
	s := make([]uint64, 2, 3)
	n := 4
	return uint64(len(s[:n]))
}

func SliceToCapacity() uint64 {
	s := make([]uint64, 2, 3)
	n := 3
	return uint64(len(s[:n]))
}

func SliceBackwards() uint64 {
	s := make([]uint64, 4)
	i, j := 3, 2
	return uint64(len(s[i:j]))
}

func SliceFromBeyondLength() uint64 {
	s := make([]uint64, 2, 5)
	i := 3
	return uint64(len(s[i:]))
}

func SliceOfNil() uint64 {
	var s []uint64
	i := 1
	return uint64(len(s[i:]))
}

func SliceOfNilToNothing() uint64 {
	var s []uint64
	return uint64(len(s[:len(s)]))
}

func SubstringBeyondLength() uint64 {
	s := "abc"
	n := 4
	return uint64(len(s[:n]))
}

func SubstringBackwards() uint64 {
	s := "abc"
	i, j := 2, 1
	return uint64(len(s[i:j]))
}

func SubstringOfAll() string {
	s := "abc"
	n := 3
	return s[n:] + s[:n]
}

func MakeNegative() uint64 {
	n := -1
	return uint64(len(make([]uint64, n)))
}

func MakeMoreThanCapacity() uint64 {
	n, c := 3, 2
	return uint64(len(make([]uint64, n, c)))
}

func MakeNothing() uint64 {
	n := 0
	return uint64(len(make([]uint64, n)))
}

func DivideByZero() uint64 {
	x, y := uint64(5), uint64(0)
	return x / y
}

func RemainderByZero() uint64 {
	x, y := 5, 0
	return uint64(x % y)
}

func DivideOverflows() uint64 {
	x, y := int(-9223372036854775808), -1
	return uint64(x/y) + uint64(x%y)
}

func ShiftByNegative() uint64 {
	x, n := uint64(1), -1
	return x << n
}

func ShiftByMuch() uint64 {
	x, n := uint64(1), uint64(1)<<63
	y := int64(-5)
	return x<<n + uint64(y>>n)
}

func LoadNil() uint64 {
	var p *uint64
	return *p
}

func StoreNil() uint64 {
	var p *uint64
	*p = 3
	return 1
}

func FieldOfNil() uint64 {
	n := &node{value: 3}
	return n.next.value
}

func FieldOfNext() uint64 {
	n := &node{value: 3}
	n.next = n
	return n.next.value
}

func StoreFieldOfNil() uint64 {
	var n *node
	n.value = 3
	return 1
}

func CopyOfNil() uint64 {
	var n *node
	m := *n
	return m.value
}

func CallNil() uint64 {
	var f func() uint64
	return f()
}

func StoreInNilMap() uint64 {
	var m map[uint64]uint64
	m[1] = 2
	return 1
}

func ReadNilMap() uint64 {
	var m map[uint64]uint64
	delete(m, 1)
	x, ok := m[1]
	if ok {
		return 1
	}
	return x + uint64(len(m))
}

func Explicit() uint64 {
	panic("on purpose")
}

func ExplicitUnlessEven() uint64 {
	x := uint64(6)
	if x%2 != 0 {
		panic("odd")
	}
	return x
}

func LastIteration() uint64 {
	s := []uint64{1, 2, 3}
	sum := uint64(0)
	for i := 0; i <= len(s); i++ {
		sum += s[i]
	}
	return sum
}

func ArrayIndexAtLength() uint64 {
	var a [3]uint64
	i := 3
	return a[i]
}

func ArrayIndexBelowLength() uint64 {
	var a [3]uint64
	i := 2
	return a[i] + 1
}

func ArrayStoreNegative() uint64 {
	var a [3]uint64
	i := -1
	a[i] = 4
	return a[0]
}

func threeNumbers() [3]uint64 { return [3]uint64{1, 2, 3} }

func ArrayValueIndexTooFar() uint64 {
	i := 4
	return threeNumbers()[i]
}

func NilArrayPointer() uint64 {
	var p *[3]uint64
	return p[1]
}

func NilArrayPointerSliced() int {
	var p *[3]uint64
	s := p[:0]
	return len(s)
}

func NilArrayPointerRanged() int {
	var p *[3]uint64
	n := 0
	for i := range p {
		n += i
	}
	return n
}

func FullSliceBeyondCapacity() int {
	s := make([]uint64, 2, 4)
	n := 5
	return cap(s[0:1:n])
}

func FullSliceUpToCapacity() int {
	s := make([]uint64, 2, 4)
	n := 4
	return cap(s[0:1:n])
}

func FullSliceLengthAboveCapacity() int {
	s := make([]uint64, 2, 4)
	n := 3
	return cap(s[0:n:2])
}

func Int8DivisionByZero() int8 {
	var x int8
	return 5 / x
}

func Int32NegativeShift() int32 {
	n := int32(-1)
	return int32(1) << n
}

type speaker interface{ say() uint64 }

type voice struct{ n uint64 }

func (v *voice) say() uint64 {
	if v == nil {
		return 1
	}
	return v.n
}

func NilInterfaceCall() uint64 {
	var s speaker
	return s.say()
}

func NilInterfaceMethodValue() uint64 {
	var s speaker
	f := s.say
	if f2 := s; f2 != nil {
		return f()
	}
	return 3
}

func NilPointerInInterface() uint64 {
	var v *voice
	var s speaker = v
	if s == nil {
		return 7
	}
	return s.say()
}

type echo struct{ *voice }

func NilEmbeddedPointer() uint64 {
	var e echo
	return e.n
}

func NilEmbeddedPointerMethod() uint64 {
	var e echo
	return e.say()
}

// must is an assertion.
//
//goose:assert
func must(ok bool, why string) {
	if !ok {
		panic(why)
	}
}

func AssertionFails() uint64 {
	x := uint64(3)
	must(x == 4, "x")
	return x
}

func AssertionHolds() uint64 {
	x := uint64(3)
	must(x == 3, "x")
	return x
}

func AssertionEvaluatesItsText() uint64 {
	var texts []string
	must(true, texts[len(texts)])
	return 1
}

func LittleEndianTooShort() uint32 {
	b := make([]byte, 3)
	return binary.LittleEndian.Uint32(b)
}

func LittleEndianLongEnough() uint32 {
	b := make([]byte, 5)
	b[1] = 1
	return binary.LittleEndian.Uint32(b)
}

func PutTooShort() byte {
	b := make([]byte, 7)
	binary.BigEndian.PutUint64(b, 5)
	return b[0]
}

func InsertTooFar() int {
	s := []uint64{1}
	return len(slices.Insert(s, 2, 5))
}

func DeleteTooFar() int {
	s := make([]uint64, 1, 3)
	return len(slices.Delete(s, 0, 2))
}

func DeleteBackwards() int {
	s := []uint64{1, 2, 3}
	i := 2
	return len(slices.Delete(s, i, 1))
}

func ReplaceTooFar() int {
	s := make([]uint64, 1, 3)
	return len(slices.Replace(s, 0, 2, s...))
}

func NilErrorText() int {
	var err error
	return len(err.Error()) * 0
}

func ErrorText() int { return len(errors.New("a").Error()) * 0 }

func DeferredLiteralPanics() uint64 {
	s := []uint64{1}
	n := 0
	defer func() { s[n] = 2 }()
	n = 1
	return s[0]
}
