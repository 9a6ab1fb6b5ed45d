package semantics

import (
	"errors"
	"fmt"
)

var (
	errFirst  = errors.New("a text")
	errSecond = errors.New("a text")
)

type problem struct{ n uint64 }

func (p *problem) describe() uint64 { return p.n }

// Error is for people.
//
//goose:omit
func (p *problem) Error() string { return fmt.Sprint(p.n) }

func failing(n uint64) (uint64, error) {
	switch n {
	case 0:
		return 1, nil
	case 1:
		return 0, errFirst
	case 2:
		return 0, errSecond
	case 3:
		return 0, fmt.Errorf("number %d: %w", n, errFirst)
	}
	return 0, &problem{n}
}

func testErrorsAreKnownByTheirVariable() bool {
	_, a := failing(1)
	_, b := failing(2)
	return a == errFirst && b == errSecond && a != errSecond && a != b && a != nil
}

func testErrorNil() bool {
	n, err := failing(0)
	var none error
	return n == 1 && err == nil && none == nil && none == err
}

func testErrorsMadeAreNew() bool {
	_, a := failing(3)
	_, b := failing(3)
	c, d := errors.New("x"), errors.New("x")
	return a != b && a != nil && a != errFirst && c != d && c == c
}

func testErrorOfPointer() bool {
	_, a := failing(4)
	_, b := failing(4)
	return a != nil && a != b && a == a && a != errFirst
}

func testErrorsIs() bool {
	_, a := failing(1)
	return errors.Is(a, errFirst) && !errors.Is(nil, errFirst) && errors.Is(errSecond, errSecond)
}

type holder struct {
	n   uint64
	err error
}

func (h *holder) fail(err error) bool {
	if h.err == nil {
		h.err = err
	}
	return false
}

func testErrorInStruct() bool {
	var h holder
	h.fail(errSecond)
	h.fail(errFirst)
	g := h
	g.err = nil
	return h.err == errSecond && g.err == nil && g.n == 0
}

func testErrorInSwitch() bool {
	_, err := failing(2)
	switch err {
	case nil, errFirst:
		return false
	case errSecond:
		return true
	}
	return false
}

// check is an assertion.
//
//goose:assert
func check(cond bool, format string, args ...any) {
	if !cond {
		panic(fmt.Sprintf(format, args...))
	}
}

func testAssertion() bool {
	x := uint64(5)
	check(x == 5, "x is %d, not %d", x, 5)
	check(true, "always")
	return true
}
