package mutant

// strangersMPCalMutants are about what strangers found in compiled systems:
// sections that wake themselves, state that is converted, connections that
// cost too much.
func strangersMPCalMutants() []Mutant {
	return wakeMutants()
}

func wakeMutants() []Mutant {
	tests := []string{"distsys/resource/local"}
	const run = "Sleep"
	return []Mutant{
		{
			Name: "distsys/resource/wake/refused-sections-wake-themselves", Kind: Stuck, In: "distsys/resource/local", Packages: tests, Run: run,
			Breaks: "Sections that are refused because of a third one try again at once, for as long as it holds its lock.",
			Old:    "if s.writer != nil || len(s.readers) > 0 {",
			New:    "if s.writer != nil {",
		},
		{
			Name: "distsys/resource/wake/a-dropped-place-wakes-its-section", Kind: Stuck, In: "distsys/resource/queue", Packages: tests, Run: run,
			Breaks: "A section that gives up its place in a queue tries again at once.",
			Old:    "\tif q.wanted {\n",
			New:    "\tif true {\n",
		},
		{
			Name: "distsys/resource/wake/a-starved-sender-wakes-itself", Kind: Stuck, In: "distsys/resource/mailbox",
			Packages: []string{"distsys/resource/mailbox"}, Run: "TestTooManyForTheWindow",
			Breaks: "A section that sends more than the window takes tries again at full speed.",
			Old:    "(*lane)(x).wakeOthers(tx.Waker())",
			New:    "(*lane)(x).wake()",
		},
	}
}
