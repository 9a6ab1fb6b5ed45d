// Package declarations has declarations outside the subset.
package declarations

import (
	"fmt"
	. "sync"   // WANT ImportKind "import of all names"
	_ "unsafe" // WANT ImportKind "unsafe"
)

var counter uint64 // WANT PackageVariable "counter"

var a, b = 1, 2 // WANT PackageVariable "variable a" PackageVariable "variable b"

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

func named(x uint64) (half uint64, ok bool) {
	half = x / 2 // WANT NamedResult "half"
	return       // WANT NamedResult "named results"
}

func variadic(xs ...uint64) {} // WANT VariadicFunction "variable number"

func callsVariadic() {
	variadic(1, 2) // WANT VariadicFunction "variable number"
}

func even(n uint64) bool { // WANT MutualRecursion "even calls itself by way of"
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

var mu Mutex // WANT PackageVariable "mu"

func größe() uint64 { return 1 } // WANT NameClash "may not read"

func outerResult() (n uint64) {
	f := func() uint64 { return n } // WANT NamedResult "result n"
	return f()
}
