// Package program has small programs with goroutines and without data races.
// What they give may depend on the schedule.
package program

import (
	"errors"
	"sync"
)

func LostUpdate() uint64 {
	var mu sync.Mutex
	var wg sync.WaitGroup
	x := uint64(1)
	wg.Add(2)
	for i := uint64(2); i <= 3; i++ {
		go func() {
			mu.Lock()
			seen := x
			mu.Unlock()
			mu.Lock()
			x = seen*10 + i
			mu.Unlock()
			wg.Done()
		}()
	}
	wg.Wait()
	return x
}

func Counter() uint64 {
	var mu sync.Mutex
	var wg sync.WaitGroup
	x := uint64(0)
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mu.Lock()
			x++
			mu.Unlock()
		}()
	}
	mu.Lock()
	x += 10
	mu.Unlock()
	wg.Wait()
	return x
}

// Goroutines that nobody waits for may or may not have run.
func NotAwaited() uint64 {
	var mu sync.Mutex
	x := uint64(0)
	go func() {
		mu.Lock()
		x = 1
		mu.Unlock()
	}()
	mu.Lock()
	defer mu.Unlock()
	return x
}

func Order() string {
	var mu sync.Mutex
	var wg sync.WaitGroup
	s := ""
	wg.Add(2)
	go func() {
		mu.Lock()
		s += "a"
		mu.Unlock()
		wg.Done()
	}()
	go func() {
		mu.Lock()
		s += "b"
		mu.Unlock()
		wg.Done()
	}()
	wg.Wait()
	return s
}

func Readers() uint64 {
	var mu sync.RWMutex
	var wg sync.WaitGroup
	x, y := uint64(1), uint64(1)
	seen := uint64(0)
	wg.Add(1)
	go func() {
		mu.Lock()
		x = 2
		y = 2
		mu.Unlock()
		wg.Done()
	}()
	mu.RLock()
	seen = x*10 + y
	mu.RUnlock()
	wg.Wait()
	return seen
}

func TwoReaders() uint64 {
	var mu sync.RWMutex
	var wg sync.WaitGroup
	x := uint64(5)
	got := make([]uint64, 2)
	wg.Add(2)
	for i := range 2 {
		go func() {
			mu.RLock()
			got[i] = x
			mu.RUnlock()
			wg.Done()
		}()
	}
	wg.Wait()
	return got[0] + got[1]
}

func Handover() uint64 {
	var mu sync.Mutex
	c := sync.NewCond(&mu)
	x := uint64(0)
	ready := false
	go func() {
		mu.Lock()
		x = 7
		ready = true
		mu.Unlock()
		c.Signal()
	}()
	mu.Lock()
	for !ready {
		c.Wait()
	}
	y := x
	mu.Unlock()
	return y
}

// Memory is handed over with a lock; then its new owner needs none.
func Ownership() uint64 {
	var mu sync.Mutex
	var shared *uint64
	go func() {
		n := new(uint64)
		*n = 3
		mu.Lock()
		shared = n
		mu.Unlock()
	}()
	mu.Lock()
	p := shared
	mu.Unlock()
	if p == nil {
		return 0
	}
	*p += 1
	return *p
}

func DisjointElements() uint64 {
	var wg sync.WaitGroup
	s := make([]uint64, 2)
	wg.Add(2)
	for i := range 2 {
		go func() {
			s[i] = uint64(i) + 1
			wg.Done()
		}()
	}
	wg.Wait()
	return s[0]*10 + s[1]
}

func DisjointFields() uint64 {
	var wg sync.WaitGroup
	p := &struct2{}
	wg.Add(1)
	go func() {
		p.a = 4
		wg.Done()
	}()
	p.b = 5
	wg.Wait()
	return p.a*10 + p.b
}

type struct2 struct {
	a uint64
	b uint64
}

func MapUnderLock() uint64 {
	var mu sync.Mutex
	var wg sync.WaitGroup
	m := make(map[uint64]uint64)
	wg.Add(2)
	for i := uint64(0); i < 2; i++ {
		go func() {
			mu.Lock()
			m[i] = m[0] + 1
			mu.Unlock()
			wg.Done()
		}()
	}
	wg.Wait()
	return m[0]*10 + m[1]
}

// Many may read what nobody writes.
func SharedReads() uint64 {
	var wg sync.WaitGroup
	x := uint64(3)
	p := &x
	got := make([]uint64, 2)
	wg.Add(2)
	for i := range 2 {
		go func() {
			got[i] = *p
			wg.Done()
		}()
	}
	y := *p
	wg.Wait()
	return got[0] + got[1] + y
}

func Nested() uint64 {
	var wg sync.WaitGroup
	x := uint64(1)
	wg.Add(1)
	go func() {
		var inner sync.WaitGroup
		inner.Add(1)
		go func() {
			x *= 2
			inner.Done()
		}()
		inner.Wait()
		x += 3
		wg.Done()
	}()
	wg.Wait()
	return x
}

// ElementsOfAnArray: the elements are places of their own.
func ElementsOfAnArray() uint64 {
	var wg sync.WaitGroup
	var a [2]uint64
	wg.Add(2)
	go func() {
		a[0] = 3
		wg.Done()
	}()
	go func() {
		a[1] = 4
		wg.Done()
	}()
	wg.Wait()
	return a[0]*10 + a[1]
}

type teller interface{ tell(x uint64) }

type board struct {
	mu   sync.Mutex
	list [2]uint64
	n    int
	err  error
}

var errFull = errors.New("full")

func (b *board) tell(x uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.n == len(b.list) {
		b.err = errFull
		return
	}
	b.list[b.n] = x
	b.n++
}

// BehindAnInterface: two threads tell a board by way of its interface.
func BehindAnInterface() uint64 {
	var wg sync.WaitGroup
	b := &board{}
	tellers := []teller{b, b}
	for i, t := range tellers {
		wg.Add(1)
		go func() {
			t.tell(uint64(i) + 1)
			wg.Done()
		}()
	}
	wg.Wait()
	if b.err != nil {
		return 0
	}
	return b.list[0]*10 + b.list[1]
}

// TooManyTold: one of three is too much, and which one is open.
func TooManyTold() uint64 {
	var wg sync.WaitGroup
	b := &board{n: 1}
	for i := range uint64(2) {
		wg.Add(1)
		go func() {
			defer func() { wg.Done() }()
			b.tell(i + 1)
		}()
	}
	wg.Wait()
	if b.err != errFull {
		return 9
	}
	return b.list[1]
}
