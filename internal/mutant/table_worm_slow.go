// SPDX-License-Identifier: Apache-2.0

package mutant

// wormSlowMutants are about progress on machines slower than any chosen timeout.
func wormSlowMutants() []Mutant {
	tx, log, row := []string{"worm/tx"}, []string{"worm/log"}, []string{"internal/worm/row"}
	const slow = "TestSlowMachines"
	return []Mutant{
		{
			Name: "worm/tx/a-takeover-decides-what-was-given-to-nobody", Kind: Stuck, In: "worm/tx", Packages: tx, Run: slow,
			Breaks: "An owner begins with the room for the heaviest load, all of which a takeover has to decide.",
			Old:    "func (e *Engine) firstRoom() uint32 { return min(roomMin, e.opt.SegmentSize/2) }",
			New:    "func (e *Engine) firstRoom() uint32 { return min(roomMin<<9, e.opt.SegmentSize/2) }",
		},
		{
			Name: "worm/tx/a-takeover-leaves-what-was-given-out", Kind: NotAtomic, In: "worm/tx", Packages: tx, Run: "TestRoom",
			Breaks: "A takeover decides half of what its predecessor has given out: the other half it can still vote in.",
			Old:    "{Lo: s.size / 2, Hi: s.size/2 + s.room}}", New: "{Lo: s.size / 2, Hi: s.size/2 + s.room/2}}",
		},
		{
			Name: "worm/row/patience-does-not-grow", Kind: Stuck, In: "internal/worm/row", Packages: log, Run: slow,
			Breaks: "An operation that takes longer than it is given is begun again forever.",
			Old:    "min(p.level+1, levelsMax)", New: "min(p.level, levelsMax)",
		},
		{
			Name: "worm/row/patience-does-not-shrink", Kind: Stuck, In: "internal/worm/row", Packages: row, Run: "TestPatience",
			Breaks: "Who was patient once waits for the dead as long forever.",
			Old:    "p.level = max(p.level-1, 0)", New: "p.level = max(p.level, 0)",
		},
		{
			Name: "worm/tx/who-leaves-is-missed", Kind: Stuck, In: "worm/tx", Packages: tx, Run: "TestLeave",
			Breaks: "What a server owned that has said that it leaves waits until it is missed.",
			Old:    "w.k.now().Add(time.Duration(turn)*w.base()/2 - w.patience(rm) - 1)", New: "w.k.now().Add(time.Duration(turn)*w.base()/2 - 1)",
		},
		{
			Name: "worm/tx/who-is-stopped-goes-on", Kind: WrongAnswer, In: "worm/tx", Packages: tx, Run: "TestHaltedAsksForNothing",
			Breaks: "A store that was stopped goes on asking the registers for what was under way.",
			Old:    "\to.shut = true", New: "\to.shut = false",
		},
		{
			Name: "worm/tx/two-lives-share-names", Kind: NotAtomic, In: "worm/tx", Packages: tx, Run: "TestStoppedAndBegunAgain",
			Breaks: "A store that is begun again in the same process gives its transactions names that were used.",
			Old:    "e.nonce = e.random.Uint64()", New: "e.nonce = e.opt.Space.Nonce()",
		},
	}
}
