// Package declarations has declarations outside the subset.
package declarations

import (
	"fmt"
	. "sync"   // WANT ImportKind "import of all names"
	_ "unsafe" // WANT ImportKind "unsafe"
)

var counter uint64

var shared = []uint64{1, 2}

var Exported = uint64(5)

var computed = thing__get()

var table = [2]uint64{3, 4}

func useVariables(i int) uint64 {
	p := &table // WANT PackageVariable "table"
	p[0] = 7
	return shared[0] + Exported + computed // WANT PackageVariable "shared" PackageVariable "Exported" PackageVariable "computed"
}

func useCounter() uint64 {
	counter++      // WANT PackageVariable "counter"
	return counter // WANT PackageVariable "counter"
}

func init() {} // WANT InitFunction "init"

func assembly(x uint64) uint64 // WANT NoBody "without a body"

const pi = 3.14 // WANT FloatType ""

func localType() {
	type local struct{ n uint64 } // WANT LocalType "declared in a function"
}

func deferInNamed(x uint64) (half uint64) {
	half = x / 2
	defer func() { half++ }() // WANT DeferForm "named results"
	return
}

func threadOfVariadic() {
	go func(xs ...uint64) {}(1, 2) // WANT VariadicFunction "variable number"
}

//goose:assert // WANT DirectiveForm "more than an assertion"
func notAnAssertion(x uint64) {
	if x == 0 {
		panic("zero")
	}
}

//goose:unknown // WANT DirectiveForm "goose:unknown"
func unknownDirective() {}

//goose:omit
func omitted() uint64 { return 1 }

func callsOmitted() uint64 {
	return omitted() // WANT ForeignCall "left out by goose:omit"
}

func even(n uint64) bool { // WANT MutualRecursion "even calls itself through"
	if n == 0 {
		return true
	}
	return odd(n - 1)
}

func odd(n uint64) bool {
	if n == 0 {
		return false
	}
	return even(n - 1)
}

type thing struct{ n uint64 }

func (t *thing) get() uint64 { return t.n }

func thing__get() uint64 { return 1 } // WANT NameClash "thing__get"

func load() uint64 { return 1 }

func load_() uint64 { return 2 } // WANT NameClash "load_"

func prints(x uint64) {
	fmt.Println(x) // WANT ForeignCall "fmt.Println"
}

var mu Mutex

func lock() {
	mu.Lock() // WANT PackageVariable "mu"
}

func größe() uint64 { return 1 } // WANT NameClash "may reject"
