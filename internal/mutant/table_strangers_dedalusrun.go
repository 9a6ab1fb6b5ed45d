// SPDX-License-Identifier: Apache-2.0

package mutant

// dedalusRunMutants are about Dedalus programs that outsiders built and ran, and about
// how commands end.
func dedalusRunMutants() []Mutant {
	return []Mutant{
		{
			Name: "strangers/dedalus/commands-from-nought", Kind: WrongAnswer, In: "internal/dedalus/cost", Packages: []string{"internal/dedalus/cost"}, Run: "TestData",
			Breaks: "Profiles number commands from 0 and not as those who measure do: a program without a command 0 has none.",
			Old:    "\t\t\tnext++\n\t\t\tr.begin(uint64(next))",
			New:    "\t\t\tr.begin(uint64(next))\n\t\t\tnext++",
		},
		{
			Name: "strangers/dedalus/module-misses-requirements", Kind: WrongAnswer, In: "internal/cli/gomodule", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/dedaluscompile",
			Breaks: "The module of a compiled program does not require what our sources require: 'go build' refuses it.",
			Old:    "for _, r := range sources.Require {",
			New:    "for _, r := range sources.Require[:1] {",
		},
		{
			Name: "strangers/dedalus/sources-of-anything", Kind: WrongAnswer, In: "internal/cli/gomodule", Packages: []string{"cmd/ashlar"}, Run: "TestDedalusCompileLeavesNothing",
			Breaks: "--ashlar takes the sources of any module for ours.",
			Old:    "sources.Module == nil || sources.Module.Mod.Path != version.Module ||",
			New:    "",
		},
		{
			Name: "strangers/page/bar-without-figures", Kind: WrongAnswer, In: "internal/cli/report/page.html", Packages: []string{"internal/cli/report"}, Run: "TestProfileBars",
			Breaks: "Lines without figures have full bars on the page of a profile.",
			Old:    `bar.style.width = (l ? Math.ceil(100 * l.samples / total) : 0) + "%";`,
			New:    `if (l) bar.style.width = Math.ceil(100 * l.samples / total) + "%";`,
		},
		{
			Name: "strangers/dedalus/ticks-take-all", Kind: Stuck, In: "dedalus/rt/host", Packages: []string{"dedalus/rt/host", "examples/dedalus/compiled"}, Run: "TestPace|TestOverload",
			Breaks: "A tick takes all that has come, however long that takes: a leader that is busy says nothing for seconds, and is taken for dead.",
			Old:    "p.most = max(p.most/2, tickMessagesMin)",
			New:    "p.most = max(p.most, tickMessagesMin)",
		},
		{
			Name: "strangers/dedalus/disks-slow-ticks", Kind: WrongAnswer, In: "dedalus/rt/host", Packages: []string{"dedalus/rt/host"}, Run: "TestPace",
			Breaks: "A slow disk has ticks take fewer messages, so that each sync serves fewer.",
			Old:    "spent := now.Sub(p.begun) - p.disk",
			New:    "spent := now.Sub(p.begun)",
		},
		{
			Name: "strangers/dedalus/clients-press", Kind: Stuck, In: "internal/dedalus/loadgen", Packages: []string{"internal/dedalus/loadgen"}, Run: "TestAskedLess",
			Breaks: "Clients ask again as often as ever those who cannot keep up.",
			Old:    "order, rest := x.order[patience], x.opt.Retry<<patience",
			New:    "order, rest := x.order[patience], x.opt.Retry",
		},
		{
			Name: "strangers/dedalus/callers-press", Kind: Stuck, In: "dedalus/rt/client", Packages: []string{"dedalus/rt/client"}, Run: "TestCalledLess",
			Breaks: "Calls are made again as often as ever to those who cannot keep up.",
			Old:    "order, rest := c.order[patience], c.opt.Retry<<patience",
			New:    "order, rest := c.order[patience], c.opt.Retry",
		},
		{
			Name: "strangers/ending/servers-stay-behind", Kind: Stuck, In: "internal/child", Packages: []string{"internal/child"}, Run: "TestChildrenEnd",
			Breaks: "A demonstration that is killed leaves its servers running forever.",
			Old:    "Setpgid: true, Pdeathsig: syscall.SIGKILL}", New: "Setpgid: true}",
		},
		{
			Name: "strangers/ending/commands-that-cannot-heed", Kind: Stuck, In: "internal/cli/ending", Packages: []string{"cmd/ashlar"}, Run: "TestEveryCommandEnds/ashlar_help$",
			Breaks: "A signal does not end a command whose output is not read, or that computes without end.",
			Old:    "\t\tos.Exit(code)",
			New:    "\t\t_ = os.Exit",
		},
		{
			Name: "strangers/dedalus/endless-tick-is-told", Kind: WrongAnswer, In: "internal/dedalus/interp", Packages: []string{"internal/dedalus/interp"}, Run: "TestEndless",
			Breaks: "What a tick that was given up has derived is carried on and sent.",
			Old:    "if out.Endless = e.stratum(&s); out.Endless != nil {\n\t\t\treturn out",
			New:    "if out.Endless = e.stratum(&s); out.Endless != nil {\n\t\t\tbreak",
		},
		{
			Name: "strangers/dedalus/endless-is-the-disk", Kind: WrongAnswer, In: "dedalus/rt/host", Packages: []string{"dedalus/rt/host"}, Run: "TestEndlessTick",
			Breaks: "A tick that is given up ends the process without a word.",
			Old:    "\tcase *rt.EndlessError:\n\t\t\terr = x",
			New:    "\tcase *rt.EndlessError:",
		},
		{
			Name: "strangers/dedalus/nobody-is-warned", Kind: WrongAnswer, In: "internal/dedalus/lower", Packages: []string{"internal/dedalus/lower"},
			Breaks: "check says nothing of a relation that grows of itself within a tick.",
			Old:    "case \"+\", \"-\", \"*\", \"concat\":",
			New:    "case \"-\", \"*\", \"concat\":",
		},
	}
}
