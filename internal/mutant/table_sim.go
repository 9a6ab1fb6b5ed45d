// SPDX-License-Identifier: Apache-2.0

package mutant

// simMutants are about the simulator: a fault that does less harm than promised
// hides mistakes in everything tested with it.
func simMutants() []Mutant {
	return []Mutant{
		{
			Name: "sim/a-sync-loses-what-was-written", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A sync loses what was written.",
			Old:    "i.pending[k].reach(&i.safe, 0, 1<<62)", New: "i.pending[k].reach(&i.safe, 0, 0)",
		},
		{
			Name: "sim/a-sync-loses-the-size", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A sync loses the size.",
			Old:    "i.safe.resize(i.pending[n-1].size)", New: "i.safe.resize(i.safe.size)",
		},
		{
			Name: "sim/a-crash-keeps-all", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A crash keeps all.",
			Old:    "\t\ti.settle(f)\n\t\ti.now", New: "\t\ti.settle(all{})\n\t\ti.now",
		},
		{
			Name: "sim/a-crash-keeps-what-is-only-in-memory", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A crash keeps what is only in memory.",
			Old:    "\t\ti.now = i.safe.clone()\n\t\ti.listed", New: "\t\ti.listed",
		},
		{
			Name: "sim/a-crash-keeps-all-names", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A crash keeps all names.",
			Old:    "[]uint64{o.n}) == 1 {", New: "[]uint64{o.n}) >= 0 {",
		},
		{
			Name: "sim/a-crash-moves-a-sector-end", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A crash moves a sector's end.",
			Old:    "max(from, o.off), min(to, o.end)", New: "max(from, o.off), min(to, o.end-1)",
		},
		{
			Name: "sim/a-sector-gets-the-last-operation-alone", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A sector gets the last operation alone.",
			Old:    "i.pending[k].reach(&i.safe, s*Sector, (s+1)*Sector)", New: "i.pending[max(k, ops[len(ops)-1])].reach(&i.safe, s*Sector, (s+1)*Sector)",
		},
		{
			Name: "sim/a-directory-sync-does-nothing", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A directory's sync does nothing.",
			Old:    "o.from == i {\n\t\t\tapply(o, durable)\n", New: "o.from == i {\n",
		},
		{
			Name: "sim/a-rename-leaves-the-old-name", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A rename leaves the old name.",
			Old:    "if o.from != nil && in(o.from)[o.old] == o.to {", New: "if o.from != nil && in(o.from)[o.old] == nil {",
		},
		{
			Name: "sim/a-removed-name-comes-back", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A removed name comes back.",
			Old:    "} else if in(o.dir)[o.name] == o.removed {", New: "} else if in(o.dir)[o.name] == nil {",
		},
		{
			Name: "sim/a-truncation-leaves-bytes", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A truncation leaves bytes.",
			Old:    "im.clear(size, 1<<62)", New: "im.clear(size+1, 1<<62)",
		},
		{
			Name: "sim/a-clone-shares-its-chunks", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A clone shares its chunks.",
			Old:    "im.id, im.shared = nil, true // what", New: "im.shared = true // what",
		},
		{
			Name: "sim/a-clone-shares-its-list-of-chunks", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A clone shares its list of chunks.",
			Old:    "im.id, im.shared = nil, true // what", New: "im.id = nil // what",
		},
		{
			Name: "sim/a-clone-shares-what-is-pending", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A clone shares what is pending.",
			Old:    "i.pending = i.pending[:len(i.pending):len(i.pending)]\n", New: "",
		},
		{
			Name: "sim/a-crash-up-to-an-operation-keeps-the-next", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A crash up to an operation keeps the next.",
			Old:    "if o.n > last {", New: "if o.n > last+1 {",
		},
		{
			Name: "sim/a-lock-is-for-all", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A lock is for all.",
			Old:    "if f.i.lock != nil {", New: "if f.i.lock != nil && f.i.lock.f == f {",
		},
		{
			Name: "sim/a-lock-is-given-back-by-who-has-it-no-more", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A lock is given back by who has it no more.",
			Old:    "if err == nil && l.f.i.lock == l {", New: "if err == nil {",
		},
		{
			Name: "sim/a-lock-outlives-a-crash", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A lock outlives a crash.",
			Old:    "\t\ti.lock = nil\n", New: "",
		},
		{
			Name: "sim/a-lock-outlives-its-holder", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A lock outlives its holder.",
			Old:    "\tl.unlock()\n", New: "",
		},
		{
			Name: "sim/what-is-discarded-stays", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "What is discarded stays.",
			Old:    "\ti.now.clear(off, end)\n", New: "",
		},
		{
			Name: "sim/a-discard-is-durable-at-once", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A discard is durable at once.",
			Old:    "\ti.now.clear(off, end)\n", New: "\ti.now.clear(off, end)\n\ti.safe.clear(off, end)\n",
		},
		{
			Name: "sim/a-discard-is-never-durable", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A discard is never durable.",
			Old:    "zero: true, size: i.now.size", New: "zero: false, size: i.now.size",
		},
		{
			Name: "sim/direct-access-to-any-place", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "Direct access to any place.",
			Old:    "off%env.DirectUnit == 0 && ", New: "",
		},
		{
			Name: "sim/direct-access-of-any-length", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "Direct access of any length.",
			Old:    "len(b)%env.DirectUnit == 0 && ", New: "",
		},
		{
			Name: "sim/direct-access-to-any-memory", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "Direct access to any memory.",
			Old:    "at%env.DirectUnit == 0,", New: "true,",
		},
		{
			Name: "sim/a-failed-sync-is-silent", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A failed sync is silent.",
			Old:    "\t\treturn fault(\"sync\", f.f.name, syscall.EIO)\n", New: "\t\treturn nil\n",
		},
		{
			Name: "sim/a-full-disk-takes-all", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A full disk takes all.",
			Old:    "if v.node.full > (*Life)(v).now() {", New: "if v.node.full > (*Life)(v).now()+1<<60 {",
		},
		{
			Name: "sim/a-piece-is-lost", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A piece is lost.",
			Old:    "{what: data, n: n - k, due: due}", New: "{what: data, n: 0, due: due}",
		},
		{
			Name: "sim/a-reset-is-not-told", Kind: Stuck, In: "sim", Packages: []string{"sim"},
			Breaks: "A reset is not told.",
			Old:    "\t\te.finish(w.now, syscall.ECONNRESET)\n", New: "",
		},
		{
			Name: "sim/nobody-is-told-of-room", Kind: Stuck, In: "sim", Packages: []string{"sim"},
			Breaks: "No writer is notified of room.",
			Old:    "p.full && p.state == open", New: "p.full && p.state == over",
		},
		{
			Name: "sim/writes-are-never-given-up", Kind: Stuck, In: "sim", Packages: []string{"sim"},
			Breaks: "Writes are never given up.",
			Old:    "\tcase limit <= w.now:", New: "\tcase limit <= w.now-1<<50:",
		},
		{
			Name: "sim/the-end-of-a-program-is-not-told", Kind: Stuck, In: "sim", Packages: []string{"sim"},
			Breaks: "The end of a program is not told.",
			Old:    "e.lose()\n\t\treturn\n\t}\n\te.peer.push(item{what: closed, due: e.toPeer(0), err: syscall.ECONNRESET})", New: "e.lose()\n\t\treturn\n\t}",
		},
		{
			Name: "sim/a-machine-that-comes-back-does-not-answer", Kind: Stuck, In: "sim", Packages: []string{"sim"},
			Breaks: "A machine that comes back does not answer.",
			Old:    "\tn.wakeOrphans()\n", New: "",
		},
		{
			Name: "sim/work-of-nodes-takes-no-time", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "With Hardware, nodes go on at once.",
			Old:    "\tl.node.usage.Code += d\n\tl.spend(d)\n", New: "\tl.node.usage.Code += d\n",
		},
		{
			Name: "sim/links-have-no-bandwidth", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "With Hardware, a node sends any number of bytes at once.",
			Old:    "\treturn n.nic\n", New: "\treturn now\n",
		},
		{
			Name: "sim/a-read-takes-one-write", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "With Hardware, a busy node pays a call for each write that has arrived meanwhile.",
			Old:    "it.due > w.now || it.n > readMost-n", New: "it.due <= w.now || it.n > readMost-n",
		},
		{
			Name: "sim/partitions-let-streams-through", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "Partitions let streams through.",
			Old:    "l.blocked > 0 {\n\t\t\tif e.held", New: "l.blocked > 1 {\n\t\t\tif e.held",
		},
		{
			Name: "sim/partitions-let-packets-through", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "Partitions let packets through.",
			Old:    "return a.way.blocked > 0 || ", New: "return ",
		},
		{
			Name: "sim/a-healed-link-forgets", Kind: WrongAnswer, In: "sim", Packages: []string{"sim"},
			Breaks: "A healed link forgets.",
			Old:    "\t\t\tw.at(w.now.Add(between(w.latency, 0, retransmit)), e.life, e)\n", New: "",
		},
		{
			Name: "sim/clogs-hold-nothing", Kind: WrongAnswer, In: "sim", Packages: []string{"sim"},
			Breaks: "Clogs hold nothing.",
			Old:    "max(depart, l.clogged)", New: "depart",
		},
		{
			Name: "sim/timers-of-slow-clocks-are-early", Kind: WrongAnswer, In: "sim", Packages: []string{"sim"},
			Breaks: "Timers of slow clocks are early.",
			Old:    "\t\tfor n.local(at) < want {\n\t\t\tat++\n\t\t}\n", New: "\t\tat -= 1000\n",
		},
		{
			Name: "sim/stopped-timers-fire", Kind: WrongAnswer, In: "sim", Packages: []string{"sim"},
			Breaks: "Stopped timers fire.",
			Old:    "func (t *timer) idle() bool { return t.over }", New: "func (t *timer) idle() bool { return false }",
		},
		{
			Name: "sim/a-pause-is-none", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "A pause is none.",
			Old:    "l.busy = l.now().Add(d)\n\t}\n}", New: "}\n}",
		},
		{
			Name: "sim/the-dead-go-on", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "The dead go on.",
			Old:    "\t\t\tif l.dead {\n\t\t\t\tcontinue\n\t\t\t}\n", New: "",
		},
		{
			Name: "sim/kinds-share-a-stream", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "Kinds share a stream.",
			Old:    `stream(o.Seed, "fault/"+Kind(k).String())`, New: `w.latency`,
		},
		{
			Name: "sim/the-hash-does-not-see-packets", Kind: WrongAnswer, In: "sim", Packages: []string{"sim"},
			Breaks: "The hash does not see packets.",
			Old:    "digest(t.k.b)", New: "0",
		},
		{
			Name: "sim/no-sector-goes-elsewhere", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "No sector goes elsewhere.",
			Old:    "\t\ti.setSector(to, is[:])\n\t}\n\tw.strike(k, n, uint64(s), uint64(to))", New: "\t\treturn\n\t}\n\tw.strike(k, n, uint64(s), uint64(to))",
		},
		{
			Name: "sim/nothing-is-torn", Kind: Unsound, In: "sim", Packages: []string{"sim"},
			Breaks: "Nothing is torn.",
			Old:    "tear: w.strikesSilently(TearWrite)", New: "tear: false",
		},
	}
}
