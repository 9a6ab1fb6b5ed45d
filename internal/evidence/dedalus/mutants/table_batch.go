// SPDX-License-Identifier: Apache-2.0

package mutants

import "github.com/ashlar-dev/ashlar/internal/dedalus/explore"

// batchRows are mistakes in the rules for batches.
func batchRows() []Row {
	row := func(name, about, program, step string, each int, change ...string) Row {
		return Row{Name: name, About: about, Program: program, Steps: []string{step}, Change: change, Each: each,
			Bounds: explore.Bounds{StatesMax: 50_000}, Limits: map[string]int{"alarm": 1}, Certificate: "found '", Explored: "safety", Random: "safety"}
	}
	liveness := func(r Row) Row { r.Explored, r.Random = "liveness", "liveness"; return r }
	random := func(kind string, r Row) Row { r.Random = kind; return r }
	kept := func(r Row) Row { r.Certificate = "does not hold back"; return r }
	return []Row{
		row("B1: a batch is sealed at every tick", "A sealed batch is sealed again.", "ordered", applier, 2,
			"next cmd_b_held(b, x0, x1) <- cmd_b_held(b, x0, x1), not b_sealed(b)", "next cmd_b_held(b, x0, x1) <- cmd_b_held(b, x0, x1)",
			"  sync cmd_b_sealed(x0, x1) <-", "  sync cmd_b_sealed(x0, x1) <- cmd_b_held(b, x0, x1), b_upto(u), b < u\n  sync cmd_b_sealed(x0, x1) <-"),
		random("liveness", row("B2: the first batch is skipped", "The second batch is sealed before the first one.", "ordered", applier, 2,
			"sync b_due(0) <- not b_upto(_)", "sync b_due(0) <- not b_upto(_)\n  sync b_due(1) <- not b_upto(_)")),
		liveness(row("B3: an empty relation has no count", "A batch waits for a count that no rule sends.", "ticking", "statemachine a rules 4 5 6 7 8 9 10 11 13 as b", 1,
			"b_full(sum<n>) <- b_got(i, n)", "b_full(sum<n>) <- b_got(i, n), b_got(0, _), b_got(1, _)")),
		row("a batch is sealed before it is complete", "The rest of the batch arrives later, and in another tick.", "ordered", applier, 2,
			"b_sealed(b) <- b_open(b, n), b_due(b), b_full(n)", "b_sealed(b) <- b_due(b), b_full(_)"),
		row("two batches are sealed in a tick", "Facts of two ticks are processed in one.", "ordered", applier, 2,
			"b_sealed(b) <- b_open(b, n), b_due(b), b_full(n)", "b_sealed(b) <- b_open(b, n), b_due(b), b_full(n)\n  sync b_sealed(c) <- b_sealed(b), c := b + 1, b_open(c, _)"),
		random("liveness", row("batches have no numbers", "The receiver cannot order the batches.", "ordered", applier, 2,
			"next b_next(c) <- b_batch(b), c := b + 1", "next b_next(b) <- b_batch(b)")),
		liveness(row("B4: an answer waits for a batch that is never sent", "An output that is derived without a batch waits forever.", "answering", asker, 2,
			"b_batch(0) <- b_tick(), not", "b_batch(0) <- b_tick(), b_count(_, _), not", "b_batch(b) <- b_tick(), b_next", "b_batch(b) <- b_tick(), b_count(_, _), b_next")),
		row("no acknowledgement", "A client receives the answer before the moved part has the facts behind it.", "answering", asker, 2,
			", b_acked(a), b <= a\n  async answer@", "\n  async answer@"),
		row("acknowledged before it is sealed", "The acknowledged facts have not been processed yet.", "answering", asker, 2,
			"async b_acked@to(b) <- b_sealed(b),", "async b_acked@to(b) <- b_announced(b, _),"),
		kept(row("B4: an answer is released before there is a batch", "The other part has not heard of the tick that is answered.", "counting", "asymmetric a rules 1 2 as b", 1,
			"next pong_b_waiting(b, f, x) <- ping(x), friend(f), b_batch(b)", "async pong@f(x) <- ping(x), friend(f)")),
	}
}
