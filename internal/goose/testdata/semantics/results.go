package semantics

import "sync"

// A return with values assigns them to the named results, which function literals
// and pointers then see.
func literalSees() (get func() uint64, n uint64) {
	get = func() uint64 { return n }
	return get, 5
}

func pointedResult() (p *uint64, n uint64) {
	p = &n
	n = 3
	return p, n + 4
}

func testReturnAssignsCapturedResults() bool {
	get, n := literalSees()
	return get() == 5 && n == 5
}

func testReturnAssignsPointedResults() bool {
	p, n := pointedResult()
	*p += 1
	return *p == 8 && n == 7
}

type kept struct{ p *uint64 }

func twoNumbers() (uint64, uint64) { return 8, 9 }

func keepsFirst(k *kept) (a, b uint64) {
	k.p = &a
	return twoNumbers()
}

func keepsSecond(k *kept) (_, b uint64) {
	k.p = &b
	return 8, 9
}

func swapsResults(k *kept) (a, b uint64) {
	k.p = &a
	a, b = 1, 2
	return b, a
}

func testReturnOfACallAssignsResults() bool {
	k := &kept{}
	a, b := keepsFirst(k)
	first := *k.p
	c, d := keepsSecond(k)
	return a == 8 && b == 9 && first == 8 && c == 8 && d == 9 && *k.p == 9
}

func testReturnSwapsResults() bool {
	k := &kept{}
	a, b := swapsResults(k)
	return a == 2 && b == 1 && *k.p == 2
}

func underLock(mu *sync.Mutex, k *kept) (n uint64) {
	mu.Lock()
	defer mu.Unlock()
	k.p = &n
	if n == 0 {
		return 6
	}
	return n
}

func testReturnAssignsBeforeUnlock() bool {
	k := &kept{}
	n := underLock(new(sync.Mutex), k)
	return n == 6 && *k.p == 6
}

func testReturnOfALiteralAssignsItsResult() bool {
	k := &kept{}
	f := func() (n uint64) {
		k.p = &n
		return 4
	}
	return f() == 4 && *k.p == 4
}
