// Package statements has statements outside the subset.
package statements

import "sync"

func gotos(n uint64) {
again: // WANT GotoLabel "a label"
	if n > 5 {
		goto again
	}
}

func labelledBreak(s [][]uint64) {
outer: // WANT GotoLabel "a label"
	for range s {
		for range 3 {
			break outer
		}
	}
}

func falls(n uint64) uint64 {
	switch n {
	case 1:
		fallthrough // WANT FallthroughCase "fallthrough"
	case 2:
		return 5
	}
	return 0
}

func breaksSwitch(n uint64) {
	for range 3 {
		switch n {
		case 1:
			if n == 1 {
				break // WANT SwitchBreak "break out of a switch"
			}
		}
	}
}

func cleanup() {}

func defers(mu *sync.Mutex) {
	defer cleanup()                      // WANT DeferForm "defer of anything"
	defer func(n int) { mu.Unlock() }(3) // WANT DeferForm "defer of anything"
	defer mu.Lock()                      // WANT DeferForm "defer of anything"
}

func defersInLoop(mu *sync.Mutex, n uint64) {
	if n > 0 {
		mu.Lock()
		defer mu.Unlock() // WANT DeferForm "top level"
	}
}

func receives(c chan bool) { // WANT ChannelType ""
	<-c       // WANT ChannelType "channels"
	select {} // WANT ChannelType "channels"
}

func closes(c chan bool) { // WANT ChannelType ""
	close(c) // WANT ChannelType "channels"
}

func ranges(s string, f func(func(int) bool)) {
	for range s { // WANT UnsupportedRange "characters of a string"
	}
	for range f { // WANT UnsupportedRange "range over a function"
	}
}

// Both places are found before either is assigned.
func rangesIntoElement(s, t []int) int {
	i := 0
	for i, s[i] = range t { // WANT UnsupportedRange "assigns a key and more"
	}
	for i, s[0] = range t { // WANT UnsupportedRange "assigns a key and more"
	}
	for _, s[i] = range t {
	}
	for s[i], i = range t {
	}
	return i
}

func typeSwitch(x any) uint64 {
	switch x.(type) { // WANT InterfaceType "type switch"
	}
	return 0
}

func goBuiltin(s []uint64) {
	go println(s) // WANT UnsupportedBuiltin "as a thread"
}

func loopVariable(fs []func()) []func() {
	for i := 0; i < 3; i++ { // WANT LoopVariable "loop variable i"
		fs = append(fs, func() { i++ })
	}
	for j := 0; j < 3; j++ { // WANT LoopVariable "loop variable j"
		p := &j
		*p = 1
	}
	for k := 0; k < 3; k++ { // WANT LoopVariable "loop variable k"
		fs = append(fs, func() { _ = k })
		if k == 1 {
			k = 2
		}
	}
	return fs
}

type table struct{ a [4]uint64 }

func bump(n *uint64) *table {
	*n++
	return &table{}
}

func one(n *uint64) int {
	*n++
	return 1
}

// Go makes the calls of an operand, though it needs the length only.
func rangesOverCalls(n *uint64, ts *[3]table) int {
	sum := 0
	for i := range bump(n).a { // WANT UnsupportedRange "array that is computed"
		sum += i
	}
	for i := range ts[one(n)].a { // WANT UnsupportedRange "array that is computed"
		sum += i
	}
	for i := range *&bump(n).a { // WANT UnsupportedRange "array that is computed"
		sum += i
	}
	for i := range ts[int(*n)].a {
		sum += i
	}
	for i := range ts[len(ts)-1].a {
		sum += i
	}
	return sum
}
