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
		{Name: "B7: it says nothing", About: "A program that tells nothing tells nothing wrong: that every run is one of the original's is not enough.",
			Program: "voting", Steps: []string{collector}, Change: []string{"  async clientOut@c(id, v) <- committed(c, id, v)\n", ""},
			Each: 2, Certificate: "rules are missing", Explored: "liveness", Random: "liveness"},
		{Name: "B8: a message is counted on to come once", About: "Two rules that send the same at one tick send one message; on two machines they send two. Where a message comes at least once that is no difference; a program that counts arrivals shows what it were otherwise.",
			Program: "arriving", Change: []string{"  async item@c(0) <- both(x), x < 2, counter(c)\n", "  async other@node \"second/0\"(x) <- both(x)\n",
				"component counter {", "component second of sender {\n  async item@node \"counter/0\"(0) <- other(x), x < 2\n}\ncomponent counter {", "deploy {", "deploy { second: 1,"},
			Each: 1, Certificate: Untried, Explored: "safety", Random: Untried},
		{Name: "B9: both sides read what is shared, and are no copies", About: "What two sides read must reach both in one order: each decides for itself who was first.",
			Program: "racing", Change: []string{
				"  output two(x: u64)\n", "", "  var winner(x: u64)\n", "", "  var best(c0: u64)\n", "", "  next winner(x) <- winner(x)\n", "",
				"  sync best(min<x>) <- try(x), not winner(_)\n  next winner(x) <- best(x)\n  async two@node \"c\"(x) <- best(x)\n", "",
				"  async try@s(x) <- go(x), server(s)\n", "  async try@s(x) <- go(x), server(s)\n  async copy@node \"other/0\"(x) <- go(x)\n",
				"deploy {", "component other of server {\n  output two(x: u64)\n  table winner(x: u64)\n  sync best(min<x>) <- copy(x), not winner(_)\n  next winner(x) <- best(x)\n  async two@node \"c\"(x) <- best(x)\n}\ndeploy { other: 1,"},
			Each: 2, Certificate: Untried, Explored: "safety", Random: "safety"},
		{Name: "B10: a machine gives its own address", About: "Who counts nodes counts machines, when a node runs on several.",
			Program: "voting", Steps: []string{"partition participant into 2 voteReq by c1"},
			Change: []string{"async voteRep@l(self, c, id, v) <- voteReq(c, id, v), leader(l)", "static machine(s: node, part: u64, m: node) = { (node \"participant/0\", 0, node \"participant/0\"), (node \"participant/0\", 1, node \"participant/1\"), (node \"participant/1\", 0, node \"participant/2\"), (node \"participant/1\", 1, node \"participant/3\") }\n  async voted@c(m, id) <- voteReq(c, id, _), part := hash(id) % 2, machine(self, part, m)\n  async voteRep@l(self, c, id, v) <- voteReq(c, id, v), leader(l)",
				"  async voted@c(self, id) <- voteReq(c, id, _)\n", ""},
			Each: 2, Certificate: "is not the rule", Explored: "safety", Random: "safety"},
		{Name: "B11: it forgets when nothing comes in", About: "What holds in one tick only is there or not as there was a tick in between or not; a batch changes that.",
			Program: "stirring", Each: 2, Still: "server", Certificate: Untried, Explored: "still", Random: Untried},
		{Name: "the key of another column", About: "What meets must be on one machine.",
			Program: "voting", Steps: []string{collector, "partition collector into 2 voteRep by c2"}, Change: []string{"hash(id)", "hash(self)"},
			Each: 2, Certificate: "the part is not", Explored: "liveness", Random: "liveness"},
		{Name: "sent to where it was before", About: "What moved must be sent where it is now.",
			Program: "voting", Steps: []string{collector}, Change: []string{", to_collector(l, to)", ", to := l"},
			Each: 2, Certificate: "is not the rule", Explored: "liveness", Random: "liveness"},
		{Name: "what it was given is not kept", About: "A monotonic part joins what came at different times.",
			Program: "watching", Steps: []string{"monotonic leader rules 3 as watcher"},
			Change: []string{"  next acks_watcher_kept(x0, x1, x2) <- acks_watcher_kept(x0, x1, x2)\n", ""},
			Each:   1, Certificate: "should not be there", Explored: "", Random: Untried},
	}
}

// claimRows are certificates that do not say what was done.
func claimRows() []Row {
	return []Row{
		{Name: "a stateful part as a functional one", About: "What has state is lost or doubled elsewhere.",
			Program: "voting", Steps: []string{collector}, Claim: func(c *certificate.Claim) { c.Kind = "functional" },
			Certificate: "has a state or aggregates", Explored: Untried, Random: Untried},
		{Name: "another key", About: "The program is divided by one key, and the certificate argues with another.",
			Program: "voting", Steps: []string{"partition participant into 2 voteReq by c1"},
			Claim:       func(c *certificate.Claim) { c.Keys = map[string]certificate.Key{"voteReq": {Column: 0}} },
			Certificate: "the part is not that of the key", Explored: Untried, Random: Untried},
		{Name: "no key", About: "A relation that comes in has no key.",
			Program: "voting", Steps: []string{"partition participant into 2 voteReq by c1"},
			Claim:       func(c *certificate.Claim) { c.Keys = map[string]certificate.Key{} },
			Certificate: "voteReq has no key", Explored: Untried, Random: Untried},
		{Name: "other rules moved", About: "The certificate argues about other rules than those that moved.",
			Program: "voting", Steps: []string{collector}, Claim: func(c *certificate.Claim) { c.Moved = []int{2} },
			Certificate: "cnt is derived by what moves", Explored: Untried, Random: Untried},
	}
}

// protocolRows are mistakes in a protocol itself, of which there is no certificate.
func protocolRows() []Row {
	return []Row{
		{Name: "a quorum too small by one", About: "It answers before all have voted: who asks a participant then is told that it has not seen anything.",
			Program: "asking", Change: []string{"k >= m", "k + 1 >= m"},
			Each: 1, Certificate: Untried, Explored: "safety", Random: "safety"},
		{Name: "a quorum too large by one", About: "It never answers.",
			Program: "voting", Change: []string{"k >= m", "k > m"},
			Each: 2, Certificate: Untried, Explored: "liveness", Random: "liveness"},
		{Name: "votes are not kept", About: "Votes that do not come together are not counted together.",
			Program: "voting", Change: []string{"  next votes(src, c, id, v) <- votes(src, c, id, v), not committed(c, id, v)\n", ""},
			Each: 2, Certificate: Untried, Explored: "liveness", Random: "liveness"},
		{Name: "somebody else's name", About: "All votes are of one voter.",
			Program: "voting", Change: []string{"voteRep@l(self, c, id, v)", "voteRep@l(c, c, id, v)"},
			Each: 2, Bounds: explore.Bounds{Duplicates: 1}, Certificate: Untried, Explored: "liveness", Random: "liveness"},
	}
}
