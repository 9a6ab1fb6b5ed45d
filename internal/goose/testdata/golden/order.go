// Package order shows that calls are made in the order of Go.
package order

type state struct{ n uint64 }

func (s *state) next() uint64 {
	s.n++
	return s.n
}

func add(a, b uint64) uint64 { return a*10 + b }

func one(s *state) uint64 { return add(1, s.next()) }

func two(s *state) uint64 { return add(s.next(), s.next()) }

func nested(s *state) uint64 { return add(add(s.next(), 2), add(3, s.next())+s.next()) }

func logic(s *state) bool { return s.next() == 1 && add(s.next(), s.next()) == 2 || s.next() == 3 }

func places(s *state, t []uint64) {
	t[s.next()] = s.next()
	t[s.next()] += 5
	t[s.next()], t[0] = s.next(), 7
}

func loop(s *state) uint64 {
	n := uint64(0)
	for add(s.next(), s.next()) < 100 {
		n += s.next()
	}
	return n
}

func results(s *state) (uint64, uint64, uint64) { return s.next(), 5, s.next() }

func use(s *state) uint64 {
	a, b, c := results(s)
	_, b, _ = results(s)
	return a + b + c
}
