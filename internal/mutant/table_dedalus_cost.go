// SPDX-License-Identifier: Apache-2.0

package mutant

// costMutants are about the cost of Dedalus programs and the choice of steps.
func costMutants() []Mutant {
	tests := []string{"internal/dedalus/cost"}
	return []Mutant{
		{
			Name: "dedalus/cost/counts-what-holds-on", Kind: WrongAnswer, In: "internal/dedalus/cost", Packages: tests, Run: "TestData/answers",
			Breaks: "A row that holds on is counted as derived again at every tick.",
			Old:    "	if n.before[k][string(n.key)] {\n		return\n	}",
			New:    "	if n.before[k] == nil {\n		return\n	}",
		},
		{
			Name: "dedalus/cost/answers-of-others-count", Kind: WrongAnswer, In: "internal/dedalus/cost", Packages: tests, Run: "TestAnswersAreOnesOwn",
			Breaks: "A command is answered by what answers another one.",
			Old:    "a.Kind != AnyArg && a.value(row[i].Kind, n, client).Compare(row[i]) != 0",
			New:    "a.Kind == TextArg && a.value(row[i].Kind, n, client).Compare(row[i]) != 0",
		},
		{
			Name: "dedalus/cost/hot-keys-divide", Kind: WrongAnswer, In: "internal/dedalus/cost", Packages: tests, Run: "TestHotKeys",
			Breaks: "A component is divided by more machines than there are keys.",
			Old:    "return sum / all\n",
			New:    "return sum / all / 8\n",
		},
		{
			Name: "dedalus/cost/budget-is-passed", Kind: WrongAnswer, In: "internal/dedalus/cost", Packages: tests, Run: "TestBudget",
			Breaks: "Steps are chosen that need more machines than there are.",
			Old:    "		if current.Machines > v.machines {",
			New:    "		if current.Machines > v.machines+2 {",
		},
		{
			Name: "dedalus/cost/one-cut-is-missing", Kind: WrongAnswer, In: "internal/dedalus/cost", Packages: tests, Run: "TestAsGoodAsExhaustive",
			Breaks: "Only parts that have nothing in common are tried.",
			Old:    "		add(o.after[i])\n",
			New:    "		_ = i\n		return out\n",
		},
		{
			Name: "dedalus/cost/points-that-are-worse", Kind: WrongAnswer, In: "internal/dedalus/cost", Packages: tests, Run: "TestBudget",
			Breaks: "Points are told that another one is better than in everything.",
			Old:    "q.Throughput >= p.Throughput*(1-1e-9) && q.Hops <= p.Hops",
			New:    "q.Throughput > p.Throughput*2 && q.Hops <= p.Hops",
		},
		{
			Name: "dedalus/cost/interrupts-are-not-seen", Kind: Stuck, In: "internal/dedalus/cost", Packages: tests, Run: "TestStops",
			Breaks: "A search goes on when it was interrupted.",
			Old:    "	if err := r.ctx.Err(); err != nil {\n		return err\n	}\n	r.rounds++",
			New:    "	r.rounds++",
		},
	}
}
