// SPDX-License-Identifier: Apache-2.0

package mutants

// partialRows are mistakes in the rules that give all pieces one order.
func partialRows() []Row {
	const step = "partial storage into 2"
	row := func(name, about, program, inputs, kind, random string, change ...string) Row {
		return Row{Name: name, About: about, Program: program, Steps: []string{step}, Change: change, Inputs: inputs, Certificate: "found '", Explored: kind, Random: random}
	}
	long := func(r Row) Row { r.Certificate = "storage has 24 rules"; return r }
	short := func(r Row) Row { r.Certificate = "storage has 22 rules"; return r }
	const one = `in(1, 1, "a") to leader/0
advance(2) to leader/0`
	const scan = `in("a", 1) to leader/0
ask(1) to leader/0`
	return []Row{
		long(row("B5: frozen until the first order", "A piece without an order does nothing.", "epochs", `in(1, 1, "a") to leader/0`, "liveness", "liveness",
			"sync storage_frozen() <- storage_voted(v), storage_done(d), v > d", "sync storage_frozen() <- storage_voted(v), storage_done(d), v > d\n  sync storage_frozen() <- not storage_voted(_)")),
		row("B6: inputs have no identity", "A second input is taken for an earlier one, so the pieces do not freeze.", "epochs", `in(1, 1, "a") to leader/0
advance(1) to leader/0
advance(2) to leader/0`, "safety", "safety",
			"sync storage_begin(m) <- epoch_start(_), storage_number(u), m := u + 1", "sync storage_begin(m) <- epoch_start(_), storage_number(_), m := 1",
			"sync epoch_storage(x0) <- epoch_do(u, _, x0), storage_voted(u), storage_done(d), d < u", "sync epoch_storage(x0) <- epoch_do(u, _, x0), storage_voted(u), storage_done(d), d <= u"),
		row("pieces do not freeze", "One piece continues while another has processed the replicated input.", "epochs", one, "safety", "safety",
			"next put_kept(x0, x1, x2) <- put_kept(x0, x1, x2), storage_frozen()", "next put_kept(x0, x1, x2) <- put_kept(x0, x1, x2), storage_frozen(), x0 > 99",
			"sync put_storage(x0, x1, x2) <- put_kept(x0, x1, x2), not storage_frozen()", "sync put_storage(x0, x1, x2) <- put_kept(x0, x1, x2)"),
		row("released before all have voted", "A piece that has not frozen misses the order.", "epochs", one, "safety", "liveness",
			"sync storage_agreed(u) <- storage_votes(u, k), k >= 2", "sync storage_agreed(u) <- storage_votes(u, k), k >= 1"),
		short(row("waiting inputs are lost", "Inputs that arrive while a piece is frozen are not processed.", "epochs", one, "liveness", "liveness",
			"  next put_kept(x0, x1, x2) <- put_kept(x0, x1, x2), storage_frozen()\n", "")),
		row("one piece gets no order", "The piece waits for an input that the others have processed.", "epochs", one, "liveness", "liveness",
			"epoch_now(u, x0), storage_parts(self, part, to)", "epoch_now(u, x0), storage_parts(self, part, to), part < 1"),
		row("parts are not sealed", "The facts of one piece are taken for all facts.", "scans", scan, "safety", Untried,
			"storage_want(f, i, 2, p, n)", "storage_want(f, i, _, p, n)"),
		row("sealed before all parts have come", "The counts have arrived, but not the facts that they count.", "scans", scan, "safety", Untried,
			"storage_got(f, i, n)\n  next", "storage_got(f, i, _)\n  next"),
		row("parts of a count are not added up", "The minimum is used instead of the sum.", "scans", scan, "safety", Untried,
			"size_sum(f, i, x0, sum<x1>)", "size_sum(f, i, x0, min<x1>)"),
	}
}
