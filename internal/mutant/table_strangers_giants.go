// SPDX-License-Identifier: Apache-2.0

package mutant

// strangersGiantsMutants are about structs that were split into parts, and about
// the capabilities of models and workers.
func strangersGiantsMutants() []Mutant {
	host := []string{"dedalus/rt/host"}
	return []Mutant{
		{
			Name: "check/parts/level-stays", Kind: WrongAnswer, In: "internal/check", Packages: []string{"internal/check"}, Run: "TestWorkersAgree|TestCounts",
			Breaks: "The states of a segment are counted as expanded, and the next segment begins with them again.",
			Old:    "\tl.at = to\n",
			New:    "",
		},
		{
			Name: "check/parts/report-forgets-what-is-known", Kind: WrongAnswer, In: "internal/check", Packages: []string{"internal/check"}, Run: "TestContinue",
			Breaks: "A search that goes on reports a property as often as a chunk finds it violated.",
			Old:    "\t\tr.known[n] = true\n",
			New:    "",
		},
		{
			Name: "check/capabilities/keys-are-left-out", Kind: WrongAnswer, In: "internal/search/program", Packages: []string{"internal/search/program"}, Run: "TestKeys",
			Breaks: "Compiled code does not say that it has keys, so states of one class are told apart.",
			Old:    "can.Key = w.Key",
			New:    "_ = w.Key",
		},
		{
			Name: "dedalus/rt/host/parts/proved-and-unknown", Kind: Lost, In: "dedalus/rt/host", Packages: host, Run: "TestSilentConnections|TestNothingIsLost",
			Breaks: "An instance that has proved its name is hung up on like one that has not.",
			Old:    "\tb.h.door.Known(c.session)\n",
			New:    "",
		},
		{
			Name: "dedalus/rt/host/parts/full-for-ever", Kind: Stuck, In: "link", Packages: host, Run: "TestStranger|TestSilentConnections|TestTooMany|TestStorm",
			Breaks: "Connections that have ended keep others out.",
			Old:    "\td.all = d.all[:last]\n",
			New:    "\td.all[last] = d.all[0]\n",
		},
	}
}
