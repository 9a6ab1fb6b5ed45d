// Package types has types outside the subset.
package types

import (
	"os"
	"sync"
	"time"
)

func integers(a int8, b int16, c int32) { // WANT IntegerType "the integer type int8" IntegerType "int16" IntegerType "int32"
}

func machineWide(x uint) uint64 { // WANT IntegerType "uint, whose width depends on the machine"
	return uint64(x) // WANT IntegerType "uint"
}

func floats(x float64) bool { // WANT FloatType "float64"
	return x > 0 // WANT FloatType "" FloatType ""
}

func complexes() complex128 { // WANT FloatType "complex128"
	return 0 // WANT FloatType ""
}

func runes() uint64 {
	r := 'x'         // WANT IntegerType "rune" IntegerType "rune"
	return uint64(r) // WANT IntegerType "rune"
}

func fails() error { // WANT InterfaceType "error"
	return nil // WANT InterfaceType "error"
}

func anything(x any) { // WANT InterfaceType "any|interface"
}

type reader interface{ read() byte } // WANT InterfaceType "interface"

func channels(c chan uint64) { // WANT ChannelType "channels"
	c <- 5 // WANT ChannelType "channels"
}

func arrays() byte {
	var a [4]byte // WANT ArrayType "\\[4\\]byte"
	return a[0]   // WANT ArrayType ""
}

func anonymous() uint64 {
	var s struct{ n uint64 } // WANT AnonymousStruct "without a name"
	return s.n               // WANT AnonymousStruct ""
}

type base struct{ n uint64 }

type derived struct {
	base // WANT EmbeddedField "base"
}

func promoted(d *derived) uint64 { return d.n } // WANT EmbeddedField "through an embedded field"

type locked struct {
	sync.Mutex // WANT EmbeddedField "Mutex"
}

func generic[T any](x T) T { return x } // WANT GenericCode "generic function generic"

func instance() uint64 { return generic[uint64](5) } // WANT GenericCode "instance"

type list[T any] struct{ head T } // WANT GenericCode "generic type list"

func useList(l *list[uint64]) {} // WANT GenericCode "generic type list"

func moment(t time.Time) {} // WANT ForeignType "time.Time"

func file(f *os.File) {} // WANT ForeignType "os.File"

func anyKey(m map[any]uint64) {} // WANT InterfaceType ""

type onceHolder struct {
	once sync.Once // WANT SyncForm "sync.Once"
	cond sync.Cond // WANT SyncForm "not behind a pointer"
}

type lockKey struct{ mu sync.Mutex }

func lockKeys(m map[lockKey]uint64) {} // WANT MapKey "locks"

type nothing struct{} // WANT EmptyStruct "without fields"

type padded struct {
	n uint64
	_ uint64 // WANT BlankField "without a name"
}
