// Package program has programs with data races. Each runs its goroutines long
// enough for the race detector.
package program

import (
	"slices"
	"sync"
)

func TwoWriters() uint64 {
	var wg sync.WaitGroup
	x := uint64(0)
	wg.Add(2)
	go func() {
		x = 1
		wg.Done()
	}()
	go func() {
		x = 2
		wg.Done()
	}()
	wg.Wait()
	return x
}

func WriterAndReader() uint64 {
	var wg sync.WaitGroup
	x := uint64(0)
	wg.Add(1)
	go func() {
		x = 1
		wg.Done()
	}()
	y := x
	wg.Wait()
	return y
}

func NotAwaited() uint64 {
	x := uint64(0)
	go func() { x = 1 }()
	return x
}

func OneSideLocked() uint64 {
	var mu sync.Mutex
	var wg sync.WaitGroup
	x := uint64(0)
	wg.Add(1)
	go func() {
		mu.Lock()
		x++
		mu.Unlock()
		wg.Done()
	}()
	x++
	wg.Wait()
	return x
}

func DifferentLocks() uint64 {
	var a, b sync.Mutex
	var wg sync.WaitGroup
	x := uint64(0)
	wg.Add(2)
	go func() {
		a.Lock()
		x++
		a.Unlock()
		wg.Done()
	}()
	go func() {
		b.Lock()
		x++
		b.Unlock()
		wg.Done()
	}()
	wg.Wait()
	return x
}

func WriteUnderReadLock() uint64 {
	var mu sync.RWMutex
	var wg sync.WaitGroup
	x := uint64(0)
	wg.Add(2)
	for range 2 {
		go func() {
			mu.RLock()
			x++
			mu.RUnlock()
			wg.Done()
		}()
	}
	wg.Wait()
	return x
}

func SameElement() uint64 {
	var wg sync.WaitGroup
	s := make([]uint64, 2)
	wg.Add(2)
	for i := range 2 {
		go func() {
			s[i/2] = uint64(i)
			wg.Done()
		}()
	}
	wg.Wait()
	return s[0]
}

func MapAndMap() uint64 {
	var wg sync.WaitGroup
	m := make(map[uint64]uint64)
	wg.Add(1)
	go func() {
		m[1] = 2
		wg.Done()
	}()
	x := m[2]
	wg.Wait()
	return x
}

func RangeAndStore() uint64 {
	var wg sync.WaitGroup
	m := map[uint64]uint64{1: 2, 3: 4}
	wg.Add(1)
	go func() {
		m[1] = 5
		wg.Done()
	}()
	sum := uint64(0)
	for _, v := range m {
		sum += v
	}
	wg.Wait()
	return sum
}

func AfterUnlock() uint64 {
	var mu sync.Mutex
	x := uint64(0)
	done := false
	go func() {
		mu.Lock()
		done = true
		mu.Unlock()
		x = 1
	}()
	seen := false
	for !seen {
		mu.Lock()
		seen = done
		mu.Unlock()
	}
	return x
}

// CopyOfAnArray: a copy reads all elements.
func CopyOfAnArray() uint64 {
	var wg sync.WaitGroup
	var a [3]uint64
	wg.Add(1)
	go func() {
		a[2] = 1
		wg.Done()
	}()
	b := a
	wg.Wait()
	return b[0]
}

// SortedWhileRead: a library function reads and writes what slices hold.
func SortedWhileRead() uint64 {
	var wg sync.WaitGroup
	s := []uint64{2, 1}
	wg.Add(1)
	go func() {
		slices.Sort(s)
		wg.Done()
	}()
	x := s[0]
	wg.Wait()
	return x
}
