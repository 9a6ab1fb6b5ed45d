// SPDX-License-Identifier: Apache-2.0

package mutants

import "github.com/ashlar-dev/ashlar/internal/dedalus/explore"

// wrongRows are programs that a step must not touch, each as a program that it may touch
// with a mistake in it: the rewriter refuses the step, and the checker the claim of the
// one about the other.
func wrongRows() []Row {
	return []Row{
		{Name: "keys that all machines have", About: "Every machine would have what follows from a static relation, for the keys of all.",
			Program: "early", Steps: []string{"partition a into 2"}, Both: []string{"next up(k) <- keys(k), got(k, _)\n", "next up(k) <- keys(k)\n"},
			Inputs: "put(1, 1) to front/0", Refused: "every machine would do this", Certificate: "reads no fact that only the machine", Explored: "safety", Random: Untried},
		{Name: "a keyed table that a replicated input fills", About: "Every piece would have the facts, and the sum of their counts has them twice.",
			Program: "decrees", Steps: []string{"partial a into 2 got by c0"}, Both: []string{"next had(k) <- law(k), got(k, _)\n", "next had(k) <- law(k)\n", "next had(k) <- law_a(k), got_a(k, _)\n", "next had(k) <- law_a(k)\n"},
			Inputs: "decree(1) to king/0\nask(9) to front/0", Refused: "every machine would do this", Certificate: "reads no fact that only the machine", Explored: "safety", Random: Untried},
		{Name: "what is numbered is no group", About: "Index numbers a column that stands in the head beside its number; each machine would begin at 0.",
			Program: "numbers", Steps: []string{"partition a into 2"}, Both: []string{"sync at(v, count<v>) <- t(v)\n", "sync at(v, index<v>) <- t(v)\n"},
			Inputs: "put(1, 0) to front/0\nput(2, 0) to front/0", Refused: "it aggregates over facts of different", Certificate: "aggregates over facts of different", Explored: "safety", Random: Untried},
		{Name: "what merges is passed on", About: "Two facts that the kept part had in two ticks come to the moved part in one, where the lesser is lost for ever.",
			Program: "tops", Steps: []string{"functional a rules 3 as teller"}, Both: []string{"var top(b: u64)", "var top(b: max<u64>)", "var top_teller(b: u64)", "var top_teller(b: max<u64>)"},
			Inputs: "put(3, 0) to front/0\nput(5, 0) to front/0", Refused: "top merges its facts", Certificate: "reads top, which merges", Explored: "liveness", Random: Untried},
		{Name: "state of the first tick", About: "A piece has had no tick yet when the answer comes to what another piece of its node has sent.",
			Program: "boot", Steps: []string{"mutual a rules 2 3 4 as b"}, Both: []string{"next up() <- one(_), x(_)\n", "next up() <- one(_)\n"},
			Inputs: "go(1) to a/0", Refused: "up may be derived in ticks in which nothing came in", Certificate: "joins what idle ticks change", Explored: "safety", Random: Untried},
		{Name: "a table that other state empties", About: "The table is forgotten in a tick in which nothing comes in, which the piece need not have before the answer comes.",
			Program: "emptied", Steps: []string{"mutual a rules 6 as b"}, Both: []string{"next s(v) <- s(v), not y(v)\n", "next s(v) <- s(v), not b0(v)\n"},
			Inputs: "go(1) to a/0", Refused: "s may be forgotten in ticks in which nothing came in", Certificate: "joins what idle ticks change", Explored: "safety", Random: Untried},
		{Name: "what is older than a tick meets what followed", About: "What next rules make of what holds for a tick meets what they make of a later message.",
			Program: "older", Steps: []string{"mutual a rules 4 as b"}, Both: []string{"hit@node \"c\"(v) <- pp(v), v < 99\n", "hit@node \"c\"(v) <- pp(v), z(v)\n"},
			Inputs: "go(1) to a/0", Refused: "pp may be derived in ticks in which nothing came in, and meets", Certificate: "joins what idle ticks change", Explored: "safety", Random: Untried},
		{Name: "one written number of two types", About: "1 of u64 and 1 of int are written alike, and hash differently.",
			Program: "types", Steps: []string{"partition a into 2"}, Both: []string{"kq(k: u64, w: u64)", "kq(k: int, w: u64)", "give(k: u64, w: u64)", "give(k: int, w: u64)", "have(c0: u64, c1: u64)", "have(c0: int, c1: u64)"},
			Inputs: "put(1, 5) to front/0\ngive(1, 6) to other/0", Refused: "is not known to be", Certificate: "and another relation by", Explored: "liveness", Random: Untried},
		{Name: "a static relation that is called as a function", About: "The facts of a static relation that is called hash are not what hash gives.",
			Program: "called", Steps: []string{"partition a into 2"}, Both: []string{"kp(k, v), h := hash(k), kq(h, w)\n", "kp(k, v), hash(k, h), kq(h, w)\n"},
			Inputs: "put(1, 5) to front/0\ngive(5, 6) to other/0", Refused: "is not known to be", Certificate: "and another relation by", Explored: "liveness", Random: Untried},
		{Name: "two texts with parentheses", About: "A checker that compares keys as texts must not take one constant for another.",
			Program: "texts", Steps: []string{"partition a into 2"}, Both: []string{"y == \"a(\"\n", "y == \"a[\"\n"},
			Inputs: "put(\"a(\", 5) to front/0\ngive(\"a[\", 6) to front/0", Refused: "is not known to be", Certificate: "and another relation by", Explored: "liveness", Random: Untried},
		{Name: "what is derived is also sent", About: "What others send is given to the piece that has the key only if the component does not derive it as well.",
			Program: "logged", Steps: []string{"partition a into 2"}, Both: []string{"log@n(k, v) <- gol(k, v), tob(n)\n", "t@n(k, v) <- gol(k, v), toa(n)\n"},
			Inputs: "gol(1, 5) to front/0\ngog(1, 6) to front/0\ngol(2, 5) to front/0\ngog(2, 6) to front/0", Refused: "t comes in, and is derived here as well, in 'async t@n(k, v) <- gol(k, v), toa(n)'; send it under another name, and derive it from that", Certificate: "comes to a, which derives it as well", Explored: "liveness", Random: Untried},
		{Name: "a derived relation that is also sent holds for one tick", About: "What a message brings holds for one tick, although all that is derived of the relation holds for ever.",
			Program: "sticking", Steps: []string{"monotonic a rules 8 as b"}, Both: []string{"log@n(k, v) <- gol(k, v), toa(n)\n", "r@n(k, v) <- gol(k, v), toa(n)\n"},
			Inputs: "gol(1, 5) to front/0\nu(1, 6) to a/0\nask(1) to a/0", Bounds: explore.Bounds{Often: true}, Refused: "r does not stay where it is", Certificate: "r does not stay before", Explored: "safety", Random: Untried},
		{Name: "an answer arrives in a relation that idle ticks change", About: "A piece has had no tick yet when an answer comes to it, of a relation that it also derives, and that idle ticks change.",
			Program: "answered", Steps: []string{"mutual a rules 6 as b"}, Both: []string{"log@n(k, v) <- more(k, v), toa(n)\n", "r@n(k, v) <- more(k, v), toa(n)\n"},
			Inputs: "go(1, 5) to front/0", Bounds: explore.Bounds{Often: true}, Refused: "may be derived in ticks in which nothing came in, and meets", Certificate: "joins what idle ticks change", Explored: "safety", Random: Untried},
		{Name: "a rule asks that no answer is there", About: "The rule asks that a relation is empty which an answer fills as well as idle ticks: a piece has had none of these when the answer comes.",
			Program: "unanswered", Steps: []string{"mutual a rules 4 as b"}, Both: []string{"log@n(k, v) <- more(k, v), toa(n)\n", "r@n(k, v) <- more(k, v), toa(n)\n"},
			Inputs: "go(1, 5) to front/0", Refused: "r may be derived in ticks in which nothing came in, and meets", Certificate: "joins what idle ticks change", Explored: "liveness", Random: Untried},
		{Name: "a rule asks that nothing follows from an answer", About: "The same where the answer comes under a name of its own, and the relation follows from it.",
			Program: "unanswered", Steps: []string{"mutual a rules 4 as b"}, Both: []string{"async seen@node \"c\"(k, v) <- log(k, v)\n", "sync r(k, v) <- log(k, v)\n"},
			Inputs: "go(1, 5) to front/0", Refused: "r may be derived in ticks in which nothing came in, and meets", Certificate: "joins what idle ticks change", Explored: "liveness", Random: Untried},
		{Name: "two numbers that must be one", About: "An exact test of two counts against each other is no threshold.",
			Program: "counts", Steps: []string{"monotonic a rules 1 2 4 5 as b"}, Both: []string{"many(n, _), n >= 2\n", "many(n, n), n >= 2\n"},
			Refused: "is used other than to ask", Certificate: "other than to see whether it has passed", Explored: Untried, Random: Untried},
		{Name: "nought where one is missing", About: "That there is no fact of one key is not that there is none.",
			Program: "nought", Steps: []string{"partial a into 2 got by c0"}, Both: []string{"want(_), not had(_)\n", "want(__), not had(__)\n", "want_a(_), not had(_)\n", "want_a(__), not had(__)\n"},
			Refused: "", Certificate: "does not give nought", Explored: Untried, Random: Untried},
	}
}
