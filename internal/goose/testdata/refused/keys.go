// Package keys has keys and arguments that are errors or hold interfaces.
package keys

type problem struct{ n uint64 }

func (p *problem) Error() string { return "" }

// A nil pointer as an error is not nil, nor is it the key that nil is.
func errorKeys(m map[error]uint64, p *problem) uint64 {
	m[p] = 1                   // WANT InterfaceType "as an error"
	m[p]++                     // WANT InterfaceType "as an error"
	delete(m, p)               // WANT InterfaceType "as an error"
	n := m[p]                  // WANT InterfaceType "as an error"
	_, ok := m[p]              // WANT InterfaceType "as an error"
	q := map[error]bool{p: ok} // WANT InterfaceType "as an error"
	q[nil] = q[&problem{}]
	delete(q, nil)
	return n
}

func errorOfThread(p *problem, w *bool) {
	go func(err error) { *w = err == nil }(p) // WANT InterfaceType "as an error"
}

type anyInside struct{ x any }

type anyDeeper struct{ a [2]anyInside }

func anyInsideKey(m map[anyInside]uint64) {} // WANT MapKey "interfaces"

func anyDeeperKey(m map[anyDeeper]uint64) {} // WANT MapKey "interfaces"

func comparesInterfacesInside(a, b anyDeeper) bool {
	switch a {
	case b: // WANT UnsupportedComparison "interface values"
		return true
	}
	return a == b // WANT UnsupportedComparison "interface values"
}
