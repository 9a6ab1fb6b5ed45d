package semantics

import "sync"

type account struct {
	mu      sync.Mutex
	rw      sync.RWMutex
	balance uint64
}

func (a *account) deposit(n uint64) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n == 0 {
		return a.balance
	}
	a.balance += n
	return a.balance
}

func (a *account) read() uint64 {
	a.rw.RLock()
	defer a.rw.RUnlock()
	return a.balance
}

func testDeferUnlock() bool {
	a := &account{}
	x := a.deposit(5)
	y := a.deposit(0)
	a.mu.Lock()
	a.balance++
	a.mu.Unlock()
	return x == 5 && y == 5 && a.deposit(0) == 6
}

func testDeferTakesResultFirst() bool {
	var mu sync.Mutex
	x := uint64(1)
	f := func() uint64 {
		mu.Lock()
		defer mu.Unlock()
		x++
		return x
	}
	return f() == 2 && f() == 3
}

func testRWMutex() bool {
	a := &account{balance: 3}
	x := a.read()
	a.rw.RLock()
	y := a.read()
	a.rw.RUnlock()
	a.rw.Lock()
	a.balance = 4
	a.rw.Unlock()
	return x == 3 && y == 3 && a.read() == 4
}

func testGoWaitGroup() bool {
	var wg sync.WaitGroup
	a := &account{}
	for i := uint64(1); i <= 3; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			a.deposit(i)
		}()
	}
	wg.Wait()
	return a.balance == 6
}

func worker(wg *sync.WaitGroup, a *account, n uint64) {
	a.deposit(n)
	wg.Done()
}

func testGoWithArguments() bool {
	wg := new(sync.WaitGroup)
	a := &account{}
	n := uint64(1)
	wg.Add(2)
	go worker(wg, a, n)
	n = 10
	go worker(wg, a, n)
	n = 100
	wg.Wait()
	return a.balance == 11
}

func testGoLiteralWithParameter() bool {
	var wg sync.WaitGroup
	a := &account{}
	wg.Add(1)
	x := uint64(4)
	go func(n uint64) {
		n++
		a.deposit(n)
		wg.Done()
	}(x)
	x = 9
	wg.Wait()
	return a.balance == 5 && x == 9
}

func testCond() bool {
	var mu sync.Mutex
	cond := sync.NewCond(&mu)
	ready := false
	go func() {
		mu.Lock()
		ready = true
		mu.Unlock()
		cond.Signal()
	}()
	mu.Lock()
	for !ready {
		cond.Wait()
	}
	mu.Unlock()
	return ready
}

func testLockInSlice() bool {
	locks := make([]sync.Mutex, 3)
	locks[1].Lock()
	locks[0].Lock()
	mu := &locks[1]
	mu.Unlock()
	locks[1].Lock()
	return mu == &locks[1] && mu != &locks[0]
}

func testLocksBehindPointers() bool {
	locks := []*sync.Mutex{new(sync.Mutex), {}}
	locks[0].Lock()
	locks[1].Lock()
	mu := locks[0]
	mu.Unlock()
	locks[0].Lock()
	return mu == locks[0] && mu != locks[1]
}
