package mutant

// dedalusRunMutants are about Dedalus programs that strangers built and ran, and about
// how commands end.
func dedalusRunMutants() []Mutant {
	return []Mutant{
		{
			Name: "strangers/dedalus/commands-from-nought", Kind: WrongAnswer, In: "dedalus/cost", Packages: []string{"dedalus/cost"}, Run: "TestData",
			Breaks: "Profiles number commands from 0 and not as those who measure do: a program without a command 0 has none.",
			Old:    "\t\t\tnext++\n\t\t\tr.begin(uint64(next))",
			New:    "\t\t\tr.begin(uint64(next))\n\t\t\tnext++",
		},
		{
			Name: "strangers/dedalus/module-misses-requirements", Kind: WrongAnswer, In: "cmd/ashlar", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/dedaluscompile",
			Breaks: "The module of a compiled program does not require what our sources require: 'go build' refuses it.",
			Old:    "for _, r := range sources.Require {",
			New:    "for _, r := range sources.Require[:1] {",
		},
		{
			Name: "strangers/dedalus/sources-of-anything", Kind: WrongAnswer, In: "cmd/ashlar", Packages: []string{"cmd/ashlar"}, Run: "TestDedalusCompileLeavesNothing",
			Breaks: "--ashlar takes the sources of any module for ours.",
			Old:    "sources.Module == nil || sources.Module.Mod.Path != ashlarModule ||",
			New:    "",
		},
		{
			Name: "strangers/page/bar-without-figures", Kind: WrongAnswer, In: "cmd/ashlar/page.html", Packages: []string{"cmd/ashlar"}, Run: "TestProfileBars",
			Breaks: "Lines without figures have full bars on the page of a profile.",
			Old:    `bar.style.width = (l ? Math.ceil(100 * l.samples / total) : 0) + "%";`,
			New:    `if (l) bar.style.width = Math.ceil(100 * l.samples / total) + "%";`,
		},
	}
}
