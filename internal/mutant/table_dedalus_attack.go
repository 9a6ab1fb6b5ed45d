// SPDX-License-Identifier: Apache-2.0

package mutant

// dedalusAttackMutants are about messages of strangers to compiled Dedalus programs,
// clients that measure, names that a step would take, and the code generated for
// aggregates.
func dedalusAttackMutants() []Mutant {
	all := dedalusCrowdMutants()
	all = append(all, dedalusNameMutants()...)
	all = append(all, dedalusGenMutants()...)
	return append(all, dedalusStrangerMutants()...)
}

func dedalusCrowdMutants() []Mutant {
	return []Mutant{
		{
			Name: "dedalus/loadgen/wait-is-met-twice", Kind: WrongAnswer, In: "internal/dedalus/loadgen", Packages: []string{"internal/dedalus/loadgen"}, Run: "TestSeveralWaits",
			Breaks: "An output that comes again counts as the other one that a command waits for, or is not counted as doubled.",
			Old:    "if k.left&(1<<w.place) == 0 {",
			New:    "if k.left == 0 {",
		},
		{
			Name: "dedalus/loadgen/one-wait-is-enough", Kind: WrongAnswer, In: "internal/dedalus/loadgen", Packages: []string{"internal/dedalus/loadgen"}, Run: "TestSeveralWaits",
			Breaks: "A command is over with the first of the outputs that it waits for.",
			Old:    "if k.left &^= 1 << w.place; k.left == 0 {",
			New:    "if k.left = 0; k.left == 0 {",
		},
		{
			Name: "dedalus/loadgen/text-is-not-compared", Kind: WrongAnswer, In: "internal/dedalus/loadgen", Packages: []string{"internal/dedalus/loadgen"},
			Breaks: "An answer with another text than the load says passes for right.",
			Old:    "(want.Num != got.Num || want.Str != got.Str)",
			New:    "want.Num != got.Num",
		},
		{
			Name: "dedalus/loadgen/all-count", Kind: WrongAnswer, In: "internal/dedalus/loadgen", Packages: []string{"internal/dedalus/loadgen"}, Run: "TestRun",
			Breaks: "Commands that are answered while nothing is measured count.",
			Old:    "\tif x.counting {\n\t\tx.out.Commands++",
			New:    "\tif !x.closed {\n\t\tx.out.Commands++",
		},
		{
			Name: "dedalus/loadgen/impatient", Kind: WrongAnswer, In: "internal/dedalus/loadgen", Packages: []string{"internal/dedalus/loadgen"}, Run: "TestAskedAgain",
			Breaks: "Commands are asked for again in half of the time.",
			Old:    "if now.Sub(k.sent) < rest {",
			New:    "if now.Sub(k.sent) < rest/2 {",
		},
		{
			Name: "dedalus/loadgen/asks-the-same-again", Kind: Stuck, In: "internal/dedalus/loadgen", Packages: []string{"internal/dedalus/loadgen"}, Run: "TestAskedAgain",
			Breaks: "A command without an answer is sent again to a server that does not answer.",
			Old:    "if k.at == x.at {",
			New:    "if k.at > x.at {",
		},
		{
			Name: "dedalus/loadgen/asks-after-the-end", Kind: Stuck, In: "internal/dedalus/loadgen", Packages: []string{"internal/dedalus/loadgen"}, Run: "TestAskedAgain",
			Breaks: "A load generator that was closed goes on sending.",
			Old:    "\t\tif x.closed {\n\t\t\treturn\n\t\t}\n\t\tx.retry()",
			New:    "\t\tx.retry()",
		},
		{
			Name: "dedalus/loadgen/keys-are-all-different", Kind: WrongAnswer, In: "internal/dedalus/loadgen", Packages: []string{"internal/dedalus/loadgen"}, Run: "TestValues",
			Breaks: "A load that takes turns among a few keys never comes back to one.",
			Old:    "key = n % a.Num",
			New:    "key = n",
		},
		{
			Name: "dedalus/loadgen/first-instance-always", Kind: WrongAnswer, In: "internal/dedalus/loadgen", Packages: []string{"internal/dedalus/loadgen"}, Run: "TestCommands",
			Breaks: "A load that names an instance asks the first one.",
			Old:    "(max(s.Instance, 0)+i)%n",
			New:    "i%n",
		},
		{
			Name: "dedalus/loadgen/one-command-too-many", Kind: WrongAnswer, In: "internal/dedalus/loadgen", Packages: []string{"internal/dedalus/loadgen"}, Run: "TestRun",
			Breaks: "One more command is asked for than there are.",
			Old:    "x.asked == x.opt.Commands",
			New:    "x.asked > x.opt.Commands",
		},
		{
			Name: "dedalus/loadgen/goes-on-after-a-wrong-answer", Kind: WrongAnswer, In: "internal/dedalus/loadgen", Packages: []string{"internal/dedalus/loadgen"}, Run: "TestWrongAnswers",
			Breaks: "After an answer that is wrong commands begin all the same.",
			Old:    "x.failed = err\n\t}\n\tx.stopping = true\n",
			New:    "x.failed = err\n\t}\n",
		},
		{
			Name: "dedalus/loadgen/second-of-the-answer", Kind: WrongAnswer, In: "internal/dedalus/loadgen", Packages: []string{"internal/dedalus/loadgen"}, Run: "TestRun",
			Breaks: "All commands count for the first second.",
			Old:    "window := int(now.Sub(x.begun) / time.Second)",
			New:    "window := int(now.Sub(now) / time.Second)",
		},
	}
}

func dedalusNameMutants() []Mutant {
	return []Mutant{
		{
			Name: "dedalus/certificate/nodes-in-sets", Kind: Unsound, In: "internal/dedalus/certificate", Packages: []string{"internal/dedalus/certificate"}, Run: "TestNewNodes|TestNewComponents",
			Breaks: "A node that the program has in a set may become one of a piece.",
			Old:    "for _, e := range v.Set {",
			New:    "for _, e := range v.Set[:0] {",
		},
		{
			Name: "dedalus/certificate/nodes-in-functions", Kind: Unsound, In: "internal/dedalus/certificate", Packages: []string{"internal/dedalus/certificate"}, Run: "TestNewNodes|TestNewComponents",
			Breaks: "A node that a function has may become one of a piece.",
			Old:    "term(f.Body)",
			New:    "term(f.Body.Args...)",
		},
		{
			Name: "dedalus/certificate/nodes-in-destinations", Kind: Unsound, In: "internal/dedalus/certificate", Packages: []string{"internal/dedalus/certificate"}, Run: "TestNewNodes|TestNewComponents",
			Breaks: "A client to whom a rule sends may become a piece.",
			Old:    "term(r.Dest)",
			New:    "term()",
		},
		{
			Name: "dedalus/certificate/nodes-of-old-components", Kind: Unsound, In: "internal/dedalus/certificate", Packages: []string{"internal/dedalus/certificate"}, Run: "TestNewNodes|TestNewComponents",
			Breaks: "A node that the program speaks of may become one of a component that has more machines than before.",
			Old:    "is(after, name, int(i)) && !is(before, name, int(i))",
			New:    "is(after, name, int(i)) && before.Component(name) == nil",
		},
		{
			Name: "dedalus/certificate/called-as-what-was-divided", Kind: Unsound, In: "internal/dedalus/certificate", Packages: []string{"internal/dedalus/certificate"}, Run: "TestNewNodes|TestNewComponents",
			Breaks: "A new component may be called as the nodes for which pieces stand.",
			Old:    "if b.Of == c.Name {",
			New:    "if b.Of == c.Name && b.Instances > 1 {",
		},
		{
			Name: "dedalus/certificate/other-names-of-nodes", Kind: WrongAnswer, In: "internal/dedalus/certificate", Packages: []string{"internal/dedalus/certificate"}, Run: "TestNewNodes|TestNewComponents",
			Breaks: "What only looks like the name of a node is taken for one.",
			Old:    "!ok || err != nil || strconv.FormatUint(i, 10) != number",
			New:    "!ok || err != nil",
		},
		{
			Name: "dedalus/certificate/what-follows-from-a-moment", Kind: Unsound, In: "internal/dedalus/certificate", Packages: []string{"internal/dedalus/rewrite"}, Run: "TestTicks|TestTicksClaimed",
			Breaks: "What follows in the same tick from what holds for one tick counts as lasting.",
			Old:    "if older := age[of]; older > 0 {", New: "if older := age[of]; older > 0 && r.Kind == logic.Next {",
		},
		{
			Name: "dedalus/certificate/any-guard-keeps", Kind: Unsound, In: "internal/dedalus/certificate", Packages: []string{"internal/dedalus/rewrite"}, Run: "TestTicks|TestTicksClaimed",
			Breaks: "What is kept as long as something does not hold counts as kept through idle ticks.",
			Old:    "ok = ok && g.Atom != nil && g.Negated && (in[g.Atom.Relation.Name] || empty[g.Atom.Relation.Name])\n\t\t}\n\t\twhole", New: "ok = ok && g.Atom != nil\n\t\t}\n\t\twhole",
		},
		{
			Name: "dedalus/certificate/answers-cause-nothing", Kind: Unsound, In: "internal/dedalus/certificate", Packages: []string{"internal/dedalus/rewrite"}, Run: "TestTicks|TestTicksClaimed",
			Breaks: "An answer to a client causes no input.",
			Old:    "if in.Kind == logic.Input {", New: "if in.Kind == logic.Input && false {",
		},
		{
			Name: "dedalus/certificate/moment-in-the-kept-part", Kind: Unsound, In: "internal/dedalus/certificate", Packages: []string{"internal/dedalus/rewrite"}, Run: "TestTicks|TestTicksClaimed",
			Breaks: "What the kept part holds for one tick may meet what comes back from the moved part.",
			Old:    "if cause(h.p, from, h.moved, h.kept) {\n\t\tif err",
			New:    "if cause(h.p, from, h.moved, nil) {\n\t\tif err",
		},
		{
			Name: "dedalus/rewrite/first-new-node", Kind: Unsound, In: "internal/dedalus/rewrite", Packages: []string{"internal/dedalus/rewrite"}, Run: "TestNamesTaken",
			Breaks: "The first of the nodes that a step makes may be one that the program speaks of.",
			Old:    "i >= c.Instances*c.Partitions && i <",
			New:    "i > c.Instances*c.Partitions && i <",
		},
	}
}

func dedalusGenMutants() []Mutant {
	return []Mutant{
		{
			Name: "dedalus/gen/file-that-go-ignores", Kind: WrongAnswer, In: "internal/dedalus/gen", Packages: []string{"internal/dedalus/gen"}, Run: "TestFiles",
			Breaks: "A component's file begins with an underscore, and is no part of the program.",
			Old:    `if strings.HasPrefix(name, "_") {`,
			New:    `if strings.HasPrefix(name, "__") {`,
		},
		{
			Name: "dedalus/gen/file-of-another-system", Kind: WrongAnswer, In: "internal/dedalus/gen", Packages: []string{"internal/dedalus/gen"}, Run: "TestFiles",
			Breaks: "A component's file is built for one system only.",
			Old:    "ok && slices.Contains(buildWords(), last)",
			New:    "ok && slices.Contains(buildWords()[:1], last)",
		},
	}
}

func dedalusStrangerMutants() []Mutant {
	return []Mutant{
		{
			Name: "dedalus/rt/host/batches-of-nothing-are-free", Kind: Unguarded, In: "dedalus/rt/host", Packages: []string{"dedalus/rt/host"}, Run: "TestBatchesOfNothing",
			Breaks: "A client may send any number of empty batches that no tick takes.",
			Old:    "frame := wire.BatchBytes(len(payload))",
			New:    "frame := len(messages)",
		},
		{
			Name: "dedalus/rt/host/names-cost-nothing", Kind: Unguarded, In: "dedalus/rt/host", Packages: []string{"dedalus/rt/host"}, Run: "TestInputsOfMany",
			Breaks: "A client that comes back under other names may send as much as it likes.",
			Old:    "b.inputs > 0 && b.inputs+frame > opt.InputsMax",
			New:    "b.inputs < 0 && b.inputs+frame > opt.InputsMax",
		},
		{
			Name: "dedalus/rt/host/inputs-count-for-ever", Kind: Stuck, In: "dedalus/rt/host", Packages: []string{"dedalus/rt/host"}, Run: "TestInputsOfMany",
			Breaks: "Inputs that a tick took count as waiting, until no more are taken.",
			Old:    "b.inputs -= n",
			New:    "b.inputs -= 0 * n",
		},
		{
			Name: "dedalus/rt/host/frames-in-part-are-free", Kind: Unguarded, In: "link", Packages: []string{"dedalus/rt/host"}, Run: "TestLongFramesInPart",
			Breaks: "Clients may have the beginnings of any number of long frames kept.",
			Old:    "for d.partial > d.opt.PartialMax {",
			New:    "for d.partial < 0 && d.opt.PartialMax > 0 {",
		},
		{
			Name: "dedalus/rt/host/frame-without-end", Kind: Unguarded, In: "link", Packages: []string{"dedalus/rt/host"}, Run: "TestSlowFrames",
			Breaks: "A byte now and then keeps a connection forever.",
			Old:    "case begun != 0 && now.Sub(",
			New:    "case begun < 0 && now.Sub(",
		},
		{
			Name: "dedalus/rt/host/whole-frames-are-slow", Kind: Stuck, In: "link", Packages: []string{"dedalus/rt/host"}, Run: "TestSlowFrames",
			Breaks: "Frames that end count as one that does not, when each piece has the end of one and the beginning of the next.",
			Old:    "case s.whole || s.begun.Load() == 0:",
			New:    "case s.begun.Load() == 0:",
		},
		{
			Name: "dedalus/rt/host/silence-keeps-others-out", Kind: Unguarded, In: "link", Packages: []string{"dedalus/rt/host"}, Run: "TestSilentConnections",
			Breaks: "When there are too many connections the newest is turned away.",
			Old:    "\td.makeRoom(s)\n",
			New:    "\tif len(d.all) >= d.opt.StrangersHostMax {\n\t\treturn false\n\t}\n\td.makeRoom(s)\n",
		},
		{
			Name: "dedalus/rt/host/new-lives-take-all-time", Kind: Unguarded, In: "dedalus/rt/host", Packages: []string{"dedalus/rt/host"}, Run: "TestNewLives",
			Breaks: "A client that begins one life after the other has all that holds looked through all the time.",
			Old:    "(resendShare - 1) * spent",
			New:    "0 * spent",
		},
		{
			Name: "dedalus/rt/host/names-made-up", Kind: Unguarded, In: "dedalus/rt/host", Packages: []string{"dedalus/rt/host"}, Run: "TestNamesMadeUp",
			Breaks: "Names of clients that there are not take all room for clients.",
			Old:    "s.strangers >= max(opt.ClientsMax/2, 1) ||",
			New:    "s.strangers < 0 ||",
		},
		{
			Name: "dedalus/rt/host/unread-outputs-of-many", Kind: Unguarded, In: "dedalus/rt/host", Packages: []string{"dedalus/rt/host"}, Run: "TestSlowReaders",
			Breaks: "What waits for clients that read nothing is bounded for each only.",
			Old:    "s.outputs.Load() <= int64(s.h.opt.OutputsMax)",
			New:    "s.outputs.Load() >= int64(-s.h.opt.OutputsMax)",
		},
		{
			Name: "dedalus/rt/host/incarnation-made-up", Kind: Unguarded, In: "dedalus/rt/host", Packages: []string{"dedalus/rt/host"}, Run: "TestIncarnationsMadeUp",
			Breaks: "Who names the greatest number ends a piece, which can never start again.",
			Old:    "case number > IncarnationMax:",
			New:    `case number > IncarnationMax && node == "":`,
		},
		{
			Name: "dedalus/rt/host/welcome-and-hang-up", Kind: Unguarded, In: "link", Packages: []string{"dedalus/rt/host"}, Run: "TestWelcomeAndHangUp",
			Breaks: "An instance that welcomes and hangs up is dialled all the time.",
			Old:    "Sub(d.since) >= o.BackoffMax {",
			New:    "Sub(d.since) >= 0 {",
		},
		{
			Name: "dedalus/rt/wire/any-number-of-messages", Kind: Unguarded, In: "dedalus/rt/wire", Packages: []string{"dedalus/rt/host"}, Run: "TestWrongMessages",
			Breaks: "A batch has as many messages as fit, and a tick takes all of them.",
			Old:    "count > MessagesMax {",
			New:    "count < 0 {",
		},
		{
			Name: "dedalus/rt/host/each-wrong-message-is-told", Kind: Unguarded, In: "dedalus/rt/host", Packages: []string{"dedalus/rt/host"}, Run: "TestWrongMessages",
			Breaks: "Of a batch of wrong messages each is looked at and told.",
			Old:    "\t\t\tif a.src != nil {\n\t\t\t\treturn n //",
			New:    "\t\t\tif a.src == nil {\n\t\t\t\treturn n //",
		},
		{
			Name: "source/terminals-obey", Kind: Unguarded, In: "internal/source", Packages: []string{"internal/source"},
			Breaks: "What a program has between quotes may move the cursor of who reads what is wrong with it.",
			Old:    `unicode.IsControl(r) && r != '\t' && r != '\n'`,
			New:    "r == 0",
		},
		{
			Name: "source/text-that-turns", Kind: Unguarded, In: "internal/source", Packages: []string{"internal/source"},
			Breaks: "Text that is written from right to left hides what it says.",
			Old:    "|| unicode.Is(unicode.Bidi_Control, r)",
			New:    "|| r == 0",
		},
		{
			Name: "dedalus/rewrite/what-is-derived-is-sent-to-a-piece", Kind: Unsound, In: "internal/dedalus/rewrite", Packages: []string{"internal/evidence/dedalus/mutants"}, Run: "TestWrongSteps",
			Breaks: "What others send to a component that derives it as well comes to its first piece, whatever its key.",
			Old:    "if v := derivedOrSent(w.p, w.c); !v.Holds {",
			New:    "if v := derivedOrSent(w.p, w.c); !v.Holds && v.Because == nil {",
		},
		{
			Name: "dedalus/certificate/what-is-derived-is-sent-to-a-piece", Kind: Unsound, In: "internal/dedalus/certificate", Packages: []string{"internal/evidence/dedalus/mutants"}, Run: "TestWrongSteps",
			Breaks: "The checker accepts that what others send to a component that derives it as well comes to its first piece.",
			Old:    "if read[r.Name] && local[r.Name] && sent(p, r) {",
			New:    "if read[r.Name] && local[r.Name] && sent(p, r) && r.Kind == logic.Static {",
		},
		{
			Name: "dedalus/analyze/a-message-stays", Kind: Unsound, In: "internal/dedalus/analyze", Packages: []string{"internal/evidence/dedalus/mutants"}, Run: "TestWrongSteps",
			Breaks: "What a message brings passes for what holds forever, because all that is derived of its relation does.",
			Old:    "\tif p.sent(rel) {\n\t\treturn false",
			New:    "\tif p.sent(rel) && p.Program == nil {\n\t\treturn false",
		},
		{
			Name: "dedalus/certificate/a-message-stays", Kind: Unsound, In: "internal/dedalus/certificate", Packages: []string{"internal/evidence/dedalus/mutants"}, Run: "TestWrongSteps",
			Breaks: "The checker accepts that what a message brings is kept, because all that is derived of its relation holds forever.",
			Old:    "all := !sent(h.p, h.p.Find(n))",
			New:    "all := true || sent(h.p, h.p.Find(n))",
		},
		{
			Name: "dedalus/analyze/an-answer-is-only-derived", Kind: Unsound, In: "internal/dedalus/analyze", Packages: []string{"internal/evidence/dedalus/mutants"}, Run: "TestWrongSteps",
			Breaks: "An answer that comes in a relation which the part derives as well may meet what idle ticks change.",
			Old:    "\t\tif p.sent(rel) {\n\t\t\tout[rel] = true",
			New:    "\t\tif p.sent(rel) && out[rel] {\n\t\t\tout[rel] = true",
		},
		{
			Name: "dedalus/drawn/an-answer-is-only-derived", Kind: Unsound, In: "internal/dedalus/analyze", Packages: []string{"internal/evidence/dedalus/drawn"}, Run: "^TestDrawn$",
			Breaks: "An answer that comes in a relation which the part derives as well may meet what idle ticks change.",
			Old:    "\t\tif p.sent(rel) {\n\t\t\tout[rel] = true",
			New:    "\t\tif p.sent(rel) && out[rel] {\n\t\t\tout[rel] = true",
		},
		{
			Name: "dedalus/certificate/an-answer-is-only-derived", Kind: Unsound, In: "internal/dedalus/certificate", Packages: []string{"internal/evidence/dedalus/mutants"}, Run: "TestWrongSteps",
			Breaks: "The checker lets an answer in a relation that the part derives as well meet what idle ticks change.",
			Old:    "maps.Copy(out, m.brought)",
			New:    "maps.Copy(out, m.in)",
		},
		{
			Name: "dedalus/analyze/an-answer-is-not-missed", Kind: Unsound, In: "internal/dedalus/analyze", Packages: []string{"internal/evidence/dedalus/mutants"}, Run: "TestWrongSteps",
			Breaks: "A rule may require that a relation is empty which an answer and idle ticks both fill.",
			Old:    "(g != b || whole || b.Negated)",
			New:    "(g != b || whole)",
		},
		{
			Name: "dedalus/certificate/an-answer-is-not-missed", Kind: Unsound, In: "internal/dedalus/certificate", Packages: []string{"internal/evidence/dedalus/mutants"}, Run: "TestWrongSteps",
			Breaks: "The checker lets a rule require that a relation is empty which an answer and idle ticks both fill.",
			Old:    "without = without || r.Body[i].Negated",
			New:    "without = without && r.Body[i].Negated",
		},
		{
			Name: "dedalus/certificate/another-relation-goes-to-the-piece", Kind: Unsound, In: "internal/dedalus/certificate", Packages: []string{"internal/dedalus/certificate"}, Run: "TestEveryChangeIsRefused",
			Breaks: "A rule that sends to the piece of its key may send another relation than before.",
			Old:    "back.Body, back.Dest = new.Body[:min(n, len(new.Body))], old.Dest",
			New:    "back.Body, back.Dest, back.Head.Relation = new.Body[:min(n, len(new.Body))], old.Dest, old.Head.Relation",
		},
		{
			Name: "dedalus/certificate/what-sends-nothing-is-led", Kind: Unguarded, In: "internal/dedalus/certificate", Packages: []string{"internal/dedalus/certificate"}, Run: "TestEveryChangeIsRefused",
			Breaks: "A rule that derives what another one sent has the checker look for where it sends.",
			Old:    "if new.Kind != old.Kind || a == nil ||",
			New:    "if a == nil ||",
		},
		{
			Name: "dedalus/certificate/two-come-as-one", Kind: Unsound, In: "internal/dedalus/certificate", Packages: []string{"internal/dedalus/certificate"}, Run: "TestOneForEach",
			Breaks: "Two relations may be passed on to the new component, or kept there, as one.",
			Old:    "was := m.made[r.Name] || m.h.p.Find(r.Name) != nil",
			New:    "was := m.h.p.Find(r.Name) != nil",
		},
		{
			Name: "dedalus/certificate/a-copy-is-not-new", Kind: Unsound, In: "internal/dedalus/certificate", Packages: []string{"internal/dedalus/certificate"}, Run: "TestOneForEach",
			Breaks: "What is kept for the new component may come into a relation that its rules derive.",
			Old:    "was := m.made[r.Name] || m.h.p.Find(r.Name) != nil",
			New:    "was := m.made[r.Name]",
		},
	}
}
