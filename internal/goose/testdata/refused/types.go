// Package types has types outside the subset.
package types

import (
	"os"
	"sync"
	"time"
)

func address(x uintptr) uint64 { // WANT IntegerType "uintptr, which holds an address"
	return uint64(x) // WANT IntegerType "uintptr"
}

func floats(x float64) bool { // WANT FloatType "float64"
	return x > 0 // WANT FloatType "" FloatType ""
}

func complexes() complex128 { // WANT FloatType "complex128"
	return 0 // WANT FloatType ""
}

type problem struct{ n uint64 }

func (p *problem) Error() string { return "a problem" }

func find(n uint64) (uint64, *problem) { return n, nil }

func fails(p *problem) error {
	var err error
	err = p                 // WANT InterfaceType "a \\*problem as an error"
	n, err := find(3)       // WANT InterfaceType "as an interface"
	if err == p && n == 0 { // WANT UnsupportedComparison "an error with a value"
		return p // WANT InterfaceType "as an error"
	}
	errs := []error{nil, p, &problem{}} // WANT InterfaceType "as an error"
	for _, err = range []*problem{p} {  // WANT InterfaceType "makes interface values"
		errs = append(errs, p) // WANT InterfaceType "as an error"
	}
	return errs[0]
}

func failsTwice(n uint64) (uint64, error) {
	return find(n) // WANT InterfaceType "as an interface"
}

type reader interface{ read() byte }

type tape struct{ at uint64 }

func (t tape) read() byte { return 1 }

func inside(r, s reader, t *tape) bool {
	var u reader = t  // WANT InterfaceType "a receiver that is not a pointer"
	_, ok := r.(tape) // WANT InterfaceType "type assertion"
	switch r.(type) { // WANT InterfaceType "type switch"
	}
	return r == s || u == nil || ok // WANT UnsupportedComparison "interface values"
}

func channels(c chan uint64) { // WANT ChannelType "channels"
	c <- 5 // WANT ChannelType "channels"
}

func arrays() int {
	var a [0]byte       // WANT ArrayType "no element"
	var b [5000]byte    // WANT ArrayType "very many"
	var c [2]sync.Mutex // WANT ArrayType "locks"
	return len(a) + len(b) + len(c)
}

func anonymous() uint64 {
	var s struct{ n uint64 } // WANT AnonymousStruct "without a name"
	return s.n               // WANT AnonymousStruct ""
}

type base struct{ n uint64 }

type derived struct {
	base
}

type locked struct {
	sync.Mutex
}

func lockEmbedded(l *locked) {
	l.Lock() // WANT EmbeddedField "embedded lock"
}

func generic[T any](x T) T { return x } // WANT GenericCode "generic function generic"

func instance() uint64 { return generic[uint64](5) } // WANT GenericCode "instance"

type list[T any] struct{ head T } // WANT GenericCode "generic type list"

func useList(l *list[uint64]) {} // WANT GenericCode "generic type list"

func moment(t time.Time) {} // WANT ForeignType "time.Time"

func file(f *os.File) {} // WANT ForeignType "os.File"

func anyKey(m map[any]uint64) {} // WANT MapKey "interfaces"

type onceHolder struct {
	once sync.Once // WANT SyncForm "sync.Once"
	cond sync.Cond // WANT SyncForm "not behind a pointer"
}

type lockKey struct{ mu sync.Mutex }

func lockKeys(m map[lockKey]uint64) {} // WANT MapKey "locks"

type nothing struct{}

func noPlace(n nothing) *nothing { // WANT EmptyStruct "without fields" EmptyStruct "without fields"
	return nil // WANT EmptyStruct "without fields"
}

type padded struct {
	n uint64
	_ uint64 // WANT BlankField "without a name"
}
