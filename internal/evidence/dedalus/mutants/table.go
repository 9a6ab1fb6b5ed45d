// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
)

// Table is all rows.
func Table() []Row {
	var all []Row
	for _, part := range [][]Row{batchRows(), partialRows(), ruleRows(), wrongRows(), claimRows(), protocolRows()} {
		all = append(all, part...)
	}
	return all
}

const (
	collector = "mutual leader rules 2 3 4 5 6 as collector"
	applier   = "statemachine a rules 8 9 10 11 12 13 as b"
	asker     = "asymmetric a rules 1 2 3 4 5 10 as b"
)

// ruleRows are mistakes in what a rewrite makes, and in what it rests on.
func ruleRows() []Row {
	return []Row{
		{Name: "B7: a program without outputs", About: "A program without outputs has no wrong output: it is not enough that the original has every run of the program.",
			Program: "voting", Steps: []string{collector}, Change: []string{"  async clientOut@c(id, v) <- committed(c, id, v)\n", ""},
			Each: 2, Certificate: "lacks some of the moved rules", Explored: "liveness", Random: "liveness"},
		{Name: "B8: a message is expected exactly once", About: "Two rules that send the same fact in one tick send one message; on two machines they send two. This makes no difference where messages arrive at least once; a program that counts arrivals shows the difference.",
			Program: "arriving", Change: []string{"  async item@c(0) <- both(x), x < 2, counter(c)\n", "  async other@node \"second/0\"(x) <- both(x)\n",
				"component counter {", "component second of sender {\n  async item@node \"counter/0\"(0) <- other(x), x < 2\n}\ncomponent counter {", "deploy {", "deploy { second: 1,"},
			Each: 1, Certificate: Untried, Explored: "safety", Random: Untried},
		{Name: "B9: both sides read shared inputs, but are not copies", About: "Shared inputs must reach both sides in one order, because each side decides which input was first.",
			Program: "racing", Change: []string{
				"  output two(x: u64)\n", "", "  var winner(x: u64)\n", "", "  var best(c0: u64)\n", "", "  next winner(x) <- winner(x)\n", "",
				"  sync best(min<x>) <- try(x), not winner(_)\n  next winner(x) <- best(x)\n  async two@node \"c\"(x) <- best(x)\n", "",
				"  async try@s(x) <- go(x), server(s)\n", "  async try@s(x) <- go(x), server(s)\n  async copy@node \"other/0\"(x) <- go(x)\n",
				"deploy {", "component other of server {\n  output two(x: u64)\n  table winner(x: u64)\n  sync best(min<x>) <- copy(x), not winner(_)\n  next winner(x) <- best(x)\n  async two@node \"c\"(x) <- best(x)\n}\ndeploy { other: 1,"},
			Each: 2, Certificate: Untried, Explored: "safety", Random: "safety"},
		{Name: "B10: a machine sends its own address", About: "A program that counts nodes then counts machines, if a node runs on several.",
			Program: "voting", Steps: []string{"partition participant into 2 voteReq by c1"},
			Change: []string{"async voteRep@l(self, c, id, v) <- voteReq(c, id, v), leader(l)", "static machine(s: node, part: u64, m: node) = { (node \"participant/0\", 0, node \"participant/0\"), (node \"participant/0\", 1, node \"participant/1\"), (node \"participant/1\", 0, node \"participant/2\"), (node \"participant/1\", 1, node \"participant/3\") }\n  async voted@c(m, id) <- voteReq(c, id, _), part := hash(id) % 2, machine(self, part, m)\n  async voteRep@l(self, c, id, v) <- voteReq(c, id, v), leader(l)",
				"  async voted@c(self, id) <- voteReq(c, id, _)\n", ""},
			Each: 2, Certificate: "found 'async", Explored: "safety", Random: "safety"},
		{Name: "B11: facts are lost when nothing is received", About: "Whether a fact that holds for one tick is still there depends on the ticks in between, which a batch changes.",
			Program: "stirring", Each: 2, Still: "server", Certificate: Untried, Explored: "still", Random: Untried},
		{Name: "the key of another column", About: "Facts that are joined must be on one machine.",
			Program: "voting", Steps: []string{collector, "partition collector into 2 voteRep by c2"}, Change: []string{"hash(id)", "hash(self)"},
			Each: 2, Certificate: "does not compute the partition", Explored: "liveness", Random: "liveness"},
		{Name: "sent to the old destination", About: "Messages for a moved rule must be sent to its new component.",
			Program: "voting", Steps: []string{collector}, Change: []string{", to_collector(l, to)", ", to := l"},
			Each: 2, Certificate: "found 'async", Explored: "liveness", Random: "liveness"},
		{Name: "received facts are not kept", About: "A monotonic part joins facts that arrive at different times.",
			Program: "watching", Steps: []string{"monotonic leader rules 3 as watcher"},
			Change: []string{"  next acks_watcher_kept(x0, x1, x2) <- acks_watcher_kept(x0, x1, x2)\n", ""},
			Each:   1, Certificate: "is an extra rule", Explored: "", Random: Untried},
	}
}

// claimRows are certificates that do not say what was done.
func claimRows() []Row {
	return []Row{
		{Name: "a part with state, decoupled as functional", About: "Its state would be lost or duplicated.",
			Program: "voting", Steps: []string{collector}, Claim: func(c *certificate.Claim) { c.Kind = "functional" },
			Certificate: "carries or merges facts, or aggregates", Explored: Untried, Random: Untried},
		{Name: "another key", About: "The program is divided by one key, and the certificate states another.",
			Program: "voting", Steps: []string{"partition participant into 2 voteReq by c1"},
			Claim:       func(c *certificate.Claim) { c.Keys = map[string]certificate.Key{"voteReq": {Column: 0}} },
			Certificate: "it does not compute the partition from the key", Explored: Untried, Random: Untried},
		{Name: "no key", About: "A received relation has no key.",
			Program: "voting", Steps: []string{"partition participant into 2 voteReq by c1"},
			Claim:       func(c *certificate.Claim) { c.Keys = map[string]certificate.Key{} },
			Certificate: "voteReq has no key", Explored: Untried, Random: Untried},
		{Name: "other rules moved", About: "The certificate lists other rules than those that moved.",
			Program: "voting", Steps: []string{collector}, Claim: func(c *certificate.Claim) { c.Moved = []int{2} },
			Certificate: "the rules that move derive cnt", Explored: Untried, Random: Untried},
	}
}

// protocolRows are mistakes in a protocol itself, of which there is no certificate.
func protocolRows() []Row {
	return []Row{
		{Name: "a quorum too small by one", About: "The program answers before all have voted: a participant that is asked then has not seen anything.",
			Program: "asking", Change: []string{"k >= m", "k + 1 >= m"},
			Each: 1, Certificate: Untried, Explored: "safety", Random: "safety"},
		{Name: "a quorum too large by one", About: "The program never answers.",
			Program: "voting", Change: []string{"k >= m", "k > m"},
			Each: 2, Certificate: Untried, Explored: "liveness", Random: "liveness"},
		{Name: "votes are not kept", About: "Votes that arrive in different ticks are not counted together.",
			Program: "voting", Change: []string{"  next votes(src, c, id, v) <- votes(src, c, id, v), not committed(c, id, v)\n", ""},
			Each: 2, Certificate: Untried, Explored: "liveness", Random: "liveness"},
		{Name: "another node's name", About: "All votes seem to come from one voter.",
			Program: "voting", Change: []string{"voteRep@l(self, c, id, v)", "voteRep@l(c, c, id, v)"},
			Each: 2, Bounds: explore.Bounds{Duplicates: 1}, Certificate: Untried, Explored: "liveness", Random: "liveness"},
	}
}
