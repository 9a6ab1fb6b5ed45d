// SPDX-License-Identifier: Apache-2.0

package mutants

import "github.com/ashlar-dev/ashlar/internal/dedalus/explore"

// wrongRows are programs that a step must not touch, each as a program that it may touch
// with a mistake in it: the rewriter refuses the step, and the checker the claim of the
// one about the other.
func wrongRows() []Row {
	return []Row{
		{Name: "a rule that every machine would apply", About: "A rule that reads only static relations derives its facts for all keys on every machine.",
			Program: "early", Steps: []string{"partition a into 2"}, Both: []string{"next up(k) <- keys(k), got(k, _)\n", "next up(k) <- keys(k)\n"},
			Inputs: "put(1, 1) to front/0", Refused: "every machine would apply this rule", Certificate: "reads no fact that only the machine", Explored: "safety", Random: Untried},
		{Name: "a keyed table that a replicated input fills", About: "Every piece would store the facts, and the sum of the counts would include them twice.",
			Program: "decrees", Steps: []string{"partial a into 2 got by c0"}, Both: []string{"next had(k) <- law(k), got(k, _)\n", "next had(k) <- law(k)\n", "next had(k) <- law_a(k), got_a(k, _)\n", "next had(k) <- law_a(k)\n"},
			Inputs: "decree(1) to king/0\nask(9) to front/0", Refused: "every machine would apply this rule", Certificate: "reads no fact that only the machine", Explored: "safety", Random: Untried},
		{Name: "index does not group by the column that it numbers", About: "The column that index numbers is also an argument of the head; each machine would begin at 0.",
			Program: "numbers", Steps: []string{"partition a into 2"}, Both: []string{"sync at(v, count<v>) <- t(v)\n", "sync at(v, index<v>) <- t(v)\n"},
			Inputs: "put(1, 0) to front/0\nput(2, 0) to front/0", Refused: "the rule aggregates facts with different", Certificate: "aggregates facts with different", Explored: "safety", Random: Untried},
		{Name: "a merging relation is forwarded", About: "Two facts of two ticks reach the moved part in one tick, where the lesser is lost.",
			Program: "tops", Steps: []string{"functional a rules 3 as teller"}, Both: []string{"var top(b: u64)", "var top(b: max<u64>)", "var top_teller(b: u64)", "var top_teller(b: max<u64>)"},
			Inputs: "put(3, 0) to front/0\nput(5, 0) to front/0", Refused: "top merges its facts", Certificate: "reads top, which merges", Explored: "liveness", Random: Untried},
		{Name: "state of the first tick", About: "A piece may receive the answer to another piece of its node before its own first tick.",
			Program: "boot", Steps: []string{"mutual a rules 2 3 4 as b"}, Both: []string{"next up() <- one(_), x(_)\n", "next up() <- one(_)\n"},
			Inputs: "go(1) to a/0", Refused: "up may be derived in ticks in which nothing was received", Certificate: "joins what idle ticks change", Explored: "safety", Random: Untried},
		{Name: "a table that other state empties", About: "A tick without inputs empties the table; the piece need not have had one before the answer arrives.",
			Program: "emptied", Steps: []string{"mutual a rules 6 as b"}, Both: []string{"next s(v) <- s(v), not y(v)\n", "next s(v) <- s(v), not b0(v)\n"},
			Inputs: "go(1) to a/0", Refused: "s may be deleted in ticks in which nothing was received", Certificate: "joins what idle ticks change", Explored: "safety", Random: Untried},
		{Name: "old facts are joined with later ones", About: "A rule joins what next rules derive from a fact of one tick with what they derive from a later message.",
			Program: "older", Steps: []string{"mutual a rules 4 as b"}, Both: []string{"hit@node \"c\"(v) <- pp(v), v < 99\n", "hit@node \"c\"(v) <- pp(v), z(v)\n"},
			Inputs: "go(1) to a/0", Refused: "pp may be derived in ticks in which nothing was received, and is joined with", Certificate: "joins what idle ticks change", Explored: "safety", Random: Untried},
		{Name: "one written number of two types", About: "1 of type u64 and 1 of type int are written alike, but have different hashes.",
			Program: "types", Steps: []string{"partition a into 2"}, Both: []string{"kq(k: u64, w: u64)", "kq(k: int, w: u64)", "give(k: u64, w: u64)", "give(k: int, w: u64)", "have(c0: u64, c1: u64)", "have(c0: int, c1: u64)"},
			Inputs: "put(1, 5) to front/0\ngive(1, 6) to other/0", Refused: "nothing shows that", Certificate: "and another relation by", Explored: "liveness", Random: Untried},
		{Name: "a static relation with the name of a function", About: "The facts of a static relation named hash are not the results of the function hash.",
			Program: "called", Steps: []string{"partition a into 2"}, Both: []string{"kp(k, v), h := hash(k), kq(h, w)\n", "kp(k, v), hash(k, h), kq(h, w)\n"},
			Inputs: "put(1, 5) to front/0\ngive(5, 6) to other/0", Refused: "nothing shows that", Certificate: "and another relation by", Explored: "liveness", Random: Untried},
		{Name: "two texts with parentheses", About: "A checker that compares keys as texts must not confuse two constants.",
			Program: "texts", Steps: []string{"partition a into 2"}, Both: []string{"y == \"a(\"\n", "y == \"a[\"\n"},
			Inputs: "put(\"a(\", 5) to front/0\ngive(\"a[\", 6) to front/0", Refused: "nothing shows that", Certificate: "and another relation by", Explored: "liveness", Random: Untried},
		{Name: "a derived relation is also sent", About: "Messages go to the piece of their key only if the component does not derive the relation as well.",
			Program: "logged", Steps: []string{"partition a into 2"}, Both: []string{"log@n(k, v) <- gol(k, v), tob(n)\n", "t@n(k, v) <- gol(k, v), toa(n)\n"},
			Inputs: "gol(1, 5) to front/0\ngog(1, 6) to front/0\ngol(2, 5) to front/0\ngog(2, 6) to front/0", Refused: "t is received here, and derived here as well: 'async t@n(k, v) <- gol(k, v), toa(n)'; send it in another relation, and derive it from that one", Certificate: "is received by a, which derives it as well", Explored: "liveness", Random: Untried},
		{Name: "a derived relation that is also sent holds for one tick", About: "A fact from a message holds for one tick, although derived facts of the relation hold forever.",
			Program: "sticking", Steps: []string{"monotonic a rules 8 as b"}, Both: []string{"log@n(k, v) <- gol(k, v), toa(n)\n", "r@n(k, v) <- gol(k, v), toa(n)\n"},
			Inputs: "gol(1, 5) to front/0\nu(1, 6) to a/0\nask(1) to a/0", Bounds: explore.Bounds{Often: true}, Refused: "r is not kept by the rules that stay", Certificate: "do not keep r forever", Explored: "safety", Random: Untried},
		{Name: "an answer arrives in a relation that idle ticks change", About: "An answer may reach a piece before its first tick, in a relation that the piece also derives and that idle ticks change.",
			Program: "answered", Steps: []string{"mutual a rules 6 as b"}, Both: []string{"log@n(k, v) <- more(k, v), toa(n)\n", "r@n(k, v) <- more(k, v), toa(n)\n"},
			Inputs: "go(1, 5) to front/0", Bounds: explore.Bounds{Often: true}, Refused: "may be derived in ticks in which nothing was received, and is joined with", Certificate: "joins what idle ticks change", Explored: "safety", Random: Untried},
		{Name: "a rule negates an answer", About: "The rule negates a relation that both answers and idle ticks fill; a piece may have had no idle tick when the answer arrives.",
			Program: "unanswered", Steps: []string{"mutual a rules 4 as b"}, Both: []string{"log@n(k, v) <- more(k, v), toa(n)\n", "r@n(k, v) <- more(k, v), toa(n)\n"},
			Inputs: "go(1, 5) to front/0", Refused: "r may be derived in ticks in which nothing was received, and is joined with", Certificate: "joins what idle ticks change", Explored: "liveness", Random: Untried},
		{Name: "a rule negates what follows from an answer", About: "The same, but the answer arrives in another relation, and the negated relation follows from it.",
			Program: "unanswered", Steps: []string{"mutual a rules 4 as b"}, Both: []string{"async seen@node \"c\"(k, v) <- log(k, v)\n", "sync r(k, v) <- log(k, v)\n"},
			Inputs: "go(1, 5) to front/0", Refused: "r may be derived in ticks in which nothing was received, and is joined with", Certificate: "joins what idle ticks change", Explored: "liveness", Random: Untried},
		{Name: "two counts that must be equal", About: "Testing two counts for equality is not a comparison with a bound.",
			Program: "counts", Steps: []string{"monotonic a rules 1 2 4 5 as b"}, Both: []string{"many(n, _), n >= 2\n", "many(n, n), n >= 2\n"},
			Refused: "is used for more than a comparison", Certificate: "for more than a comparison with a bound", Explored: Untried, Random: Untried},
		{Name: "zero where one fact is missing", About: "No fact of one key does not mean no fact at all.",
			Program: "nought", Steps: []string{"partial a into 2 got by c0"}, Both: []string{"want(_), not had(_)\n", "want(__), not had(__)\n", "want_a(_), not had(_)\n", "want_a(__), not had(__)\n"},
			Refused: "", Certificate: "does not derive zero", Explored: Untried, Random: Untried},
	}
}
