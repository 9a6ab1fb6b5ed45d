package mutant

// strangersAshlardMutants are about what strangers, full disks and long runs did to
// ashlard and to what it hosts.
func strangersAshlardMutants() []Mutant {
	return []Mutant{
		{
			Name: "strangers/tx/rolled-is-an-abort", Kind: WrongAnswer, In: "worm/tx", Packages: []string{"worm/tx"},
			Breaks: "A transaction whose register an RM has closed with its segment is aborted though nobody wanted that.",
			Old:    "\t\t\tif e.metClosed(t, o) && starts > 1 {",
			New:    "\t\t\tif e.metClosed(t, o) && starts > startsMax {",
		},
		{
			Name: "strangers/tx/closed-registers-are-used-again", Kind: WrongAnswer, In: "worm/tx", Packages: []string{"worm/tx"},
			Breaks: "What is begun again is begun in the registers that are closed.",
			Old:    "\t\t\te.pools[t.Seats[i].RM].drop()",
			New:    "\t\t\t_ = e.pools[t.Seats[i].RM].left",
		},
		{
			Name: "strangers/tx/closed-register-is-voted-yes", Kind: Unsound, In: "worm/tx", Packages: []string{"worm/tx"},
			Breaks: "An RM votes YES in a segment that it has closed, after votes in the next one.",
			Old:    "\tif !seg.closed {\n\t\tv.Order",
			New:    "\tif seg != nil {\n\t\tv.Order",
		},
		{
			Name: "strangers/tx/closed-register-is-silent", Kind: Stuck, In: "worm/tx", Packages: []string{"worm/tx"},
			Breaks: "Nobody votes in a register that is closed, so that all who joined wait for their patience to end.",
			Old:    "\tcase s.take(a.Offset):\n\t\treturn s, answerOK\n\tcase s.closed:",
			New:    "\tcase !s.closed && s.take(a.Offset):\n\t\treturn s, answerOK\n\tcase s.closed:",
		},
	}
}
