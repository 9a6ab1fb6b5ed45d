// SPDX-License-Identifier: Apache-2.0

package mutant

// wormNodeMutants are about the shell of WormSpace: when replies leave, the
// identity that a server assumes, and the answers of a transport.
func wormNodeMutants() []Mutant {
	node := []string{"internal/worm/node"}
	const (
		hold    = "TestHold|TestNotes"
		refuse  = "TestRefusals|TestClaims|TestLimits|TestConnsMax|TestSilent"
		witness = "TestRolledBack|TestMuteUntilSure|TestRestart|TestPast|TestEveryHistory"
		client  = "TestCoalesce|TestLost|TestAnother|TestInflightMax|TestFull|TestHalfOpen|TestListenAgain|TestBadServer"
	)
	return []Mutant{
		{
			Name: "worm/node/reply-before-commit", Kind: Lost, In: "internal/worm/node", Packages: node, Run: hold,
			Breaks: "A reply leaves before the records of its request are durable.",
			Old:    "case k.appended <= k.committed:", New: "case k.appended >= k.committed:",
		},
		{
			Name: "worm/node/what-changes-nothing-overtakes", Kind: Lost, In: "internal/worm/node", Packages: node, Run: hold,
			Breaks: "A reply that changed nothing shows what an earlier request changed before that is durable.",
			Old:    "\tout := c.outlet()\n\tif err := out.Reply(id, s.commits.last(), r)",
			New:    "\tout := c.outlet()\n\tif q.Kind == wor.KindRead {\n\t\tout = &c.now\n\t}\n\tif err := out.Reply(id, s.commits.last(), r)",
		},
		{
			Name: "worm/node/a-change-joins-the-commit-that-runs", Kind: Lost, In: "internal/worm/node", Packages: node, Run: hold,
			Breaks: "A reply to what came while a commit was running leaves when that one is done.",
			Old:    "case k.appended <= k.committing:", New: "case k.committing > k.committed:",
		},
		{
			Name: "worm/node/committed-is-what-was-appended", Kind: Lost, In: "internal/worm/node", Packages: node, Run: hold,
			Breaks: "After a commit, what came meanwhile passes for durable too.",
			Old:    "k.committed = k.committing", New: "k.committed = k.appended",
		},
		{
			Name: "worm/node/a-failed-commit-releases", Kind: Lost, In: "internal/worm/node", Packages: node, Run: "TestDiskFails",
			Breaks: "Replies leave though the sync has failed.",
			Old:    "\tif err != nil {\n\t\ts.fail(err)\n\t\treturn false\n\t}\n\tif k.full {", New: "\tk.release()\n\tif err != nil {\n\t\ts.fail(err)\n\t\treturn false\n\t}\n\tif k.full {",
		},
		{
			Name: "worm/node/notes-before-durable", Kind: Lost, In: "internal/worm/node", Packages: node, Run: hold,
			Breaks: "A listener is told of a write that is not durable.",
			Old:    "out := c.outlet()\n\tbefore", New: "out := &c.now\n\tbefore",
		},
		{
			Name: "worm/node/notes-of-refused-writes", Kind: WrongAnswer, In: "internal/worm/node", Packages: node, Run: hold,
			Breaks: "A listener is told of a write that was not accepted.",
			Old:    "if run.Status != wor.StatusOK {", New: "if false {",
		},
		{
			Name: "worm/node/notes-without-bound", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: hold,
			Breaks: "Notes for who takes none are kept without bound.",
			Old:    "waits > s.opt.NotesMax || ", New: "waits < 0 || ",
		},
		{
			Name: "worm/node/a-gap-is-not-told", Kind: Lost, In: "internal/worm/node", Packages: node, Run: hold,
			Breaks: "Who lost its listening for want of room is not told.",
			Old:    "_ = out.Note(l.id, &wor.Note{Partition: q.Partition, Epoch: r.Epoch}) // short\n", New: "",
		},
		{
			Name: "worm/node/any-server-will-do", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: refuse,
			Breaks: "A server answers for another one whose address it has.",
			Old:    "case h.To != s.id:", New: "case false:",
		},
		{
			Name: "worm/node/any-cluster-will-do", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: refuse,
			Breaks: "A client of another cluster is served.",
			Old:    "case h.Cluster != s.opt.Genesis.Cluster:", New: "case false:",
		},
		{
			Name: "worm/node/clients-have-seen-nothing", Kind: Lost, In: "internal/worm/node", Packages: node, Run: refuse,
			Breaks: "A server whose disk was put back serves a client that has seen it further.",
			Old:    "case (place{s.generation, s.commits.durable()}).less(place{h.Generation, h.Position}):", New: "case false:",
		},
		{
			Name: "worm/node/positions-are-not-compared", Kind: Lost, In: "internal/worm/node", Packages: node, Run: refuse + "|" + witness,
			Breaks: "Only the generation says whether a disk is older than it was.",
			Old:    "a.generation == b.generation && a.position < b.position", New: "false",
		},
		{
			Name: "worm/node/refused-and-served", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: refuse,
			Breaks: "Requests behind a refused hello are done.",
			Old:    "\t\tc.refused = true\n\t\treturn nil\n", New: "",
		},
		{
			Name: "worm/node/never-mute", Kind: Lost, In: "internal/worm/node", Packages: node, Run: witness,
			Breaks: "A server answers before its peers have said that its disk is the newest.",
			Old:    "p.mute = sure < least\n", New: "if p.mute = false; least >= 0 {\n\t\t\tcontinue\n\t\t}\n",
		},
		{
			Name: "worm/node/always-mute", Kind: Stuck, In: "internal/worm/node", Packages: node, Run: witness,
			Breaks: "A server that has restarted waits for all peers.",
			Old:    "least := wor.Majority(n) - 1", New: "least := n - 1",
		},
		{
			Name: "worm/node/the-fewest-witnesses-are-enough-at-once", Kind: Lost, In: "internal/worm/node", Packages: []string{"internal/evidence/worm/simulation"}, Run: "TestLostDisk",
			Breaks: "A server serves beside half of the others, and does not wait for one that could deny it.",
			Old:    "!p.mute && sure < enough && now < wait {", New: "!p.mute && sure > enough && now < wait {",
		},
		{
			Name: "worm/node/half-of-the-others-is-enough", Kind: Lost, In: "internal/worm/node", Packages: []string{"internal/evidence/worm/simulation"}, Run: "TestLostDisk",
			Breaks: "Two sets of witnesses need not meet: half of the others is taken for more than half.",
			Old:    "enough := min((n+1)/2, n-1)", New: "enough := min(n/2, n-1)",
		},
		{
			Name: "worm/node/the-fewest-witnesses-are-never-enough", Kind: Stuck, In: "internal/worm/node", Packages: []string{"internal/evidence/worm/simulation"}, Run: "TestLostDisk",
			Breaks: "A server that has restarted waits for more members than a majority has.",
			Old:    "!p.mute && sure < enough && now < wait {", New: "!p.mute && sure < enough && now < wait.Add(1<<60) {",
		},
		{
			Name: "worm/node/new-members-are-not-asked", Kind: Lost, In: "internal/worm/node", Packages: node, Run: "TestWitnessesOfEpochs",
			Breaks: "A server serves in an epoch whose members know nothing of its life.",
			Old:    "e != p.judged && p.group", New: "e < p.judged && p.group",
		},
		{
			Name: "worm/node/a-mute-server-begins-no-epoch", Kind: Stuck, In: "internal/worm/node", Packages: node, Run: "TestWitnessesOfEpochs",
			Breaks: "A server that is mute does not answer that an epoch has begun, so that a change of members does not end.",
			Old:    "s.registers.part(q.Partition).mute && q.Kind != wor.KindActivate:", New: "s.registers.part(q.Partition).mute:",
		},
		{
			Name: "worm/node/decided-while-full-is-dropped", Kind: Stuck, In: "internal/worm/node", Packages: node, Run: "TestDecidedWhileFull",
			Breaks: "An epoch that is decided while a server's disk is full does not begin there until a client claims it.",
			Old:    "\t\tif c := p.kept; c != nil {\n", New: "\t\tif c := p.kept; c != nil && p.claimed > 0 {\n",
		},
		{
			Name: "worm/node/the-last-kept-counts", Kind: Stuck, In: "internal/worm/node", Packages: node, Run: "TestDecidedWhileFull",
			Breaks: "Of two epochs that are decided while a server's disk is full it begins the one that it heard of last.",
			Old:    "if p.kept == nil || c.Epoch > p.kept.Epoch {", New: "if c.Epoch > 0 {",
		},
		{
			Name: "worm/node/strangers-displace-trims", Kind: Stuck, In: "internal/worm/node", Packages: node, Run: "TestFalseClaimsGoFirst",
			Breaks: "A flood of false claims has a server forget that it has found a segment trimmed, before the client asks again.",
			Old:    "[]verdictOfClaim{claimFalse, claimTrue}", New: "[]verdictOfClaim{claimTrue, claimFalse}",
		},
		{
			Name: "worm/node/lives-are-not-compared", Kind: Lost, In: "internal/worm/node", Packages: node, Run: witness,
			Breaks: "A disk that lacks a generation passes when it has started as often as the one that was seen.",
			Old:    "l[i].life == seen.life && ", New: "",
		},
		{
			Name: "worm/node/the-life-before-is-not-compared", Kind: Lost, In: "internal/worm/node", Packages: node, Run: witness,
			Breaks: "A disk that lacks the end of its last generation passes.",
			Old:    "seen.position <= l[i+1].position", New: "true",
		},
		{
			Name: "worm/node/lone-lives-hide-the-lost-one", Kind: Lost, In: "internal/worm/node", Packages: []string{"internal/worm/node", "internal/evidence/worm/simulation"}, Run: "TestRolledBack|TestEveryHistory|TestLostDisk",
			Breaks: "A server that has started alone since its disk was put back passes at a peer that has seen a life of before.",
			Old:    "return found && l[i].life", New: "return seen.generation < l[max(len(l)-2, 0)].generation || found && l[i].life",
		},
		{
			Name: "worm/node/one-life-is-remembered", Kind: Stuck, In: "internal/worm/node", Packages: node, Run: "TestPast|TestEveryHistory",
			Breaks: "A server that has started twice while a peer was away is denied by that peer.",
			Old:    "if len(l) >= livesMax {", New: "if l = l[max(len(l)-1, 0):]; len(l) >= livesMax {",
		},
		{
			Name: "worm/node/lives-are-without-bound", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: "TestLivesMax",
			Breaks: "A server that starts again and again remembers every start.",
			Old:    "if len(l) >= livesMax {", New: "if false {",
		},
		{
			Name: "worm/node/a-checkpoint-forgets-the-lives", Kind: Stuck, In: "internal/worm/node", Packages: node, Run: "TestCheckpoint",
			Breaks: "A server that has written its state anew knows of no life before, and is denied by peers that have seen one.",
			Old:    "record(recordWitness, encodeSighting(w.s.id, life))", New: "_ = life",
		},
		{
			Name: "worm/node/who-answers-is-a-witness", Kind: Lost, In: "internal/worm/node", Packages: node, Run: "TestEarlierLifeIsNamed",
			Breaks: "A server counts a peer that holds an earlier life for a witness of the present one.",
			Old:    "case r.sameLife(v.seen) || r.replaces(v.seen):", New: "case true:",
		},
		{
			Name: "worm/node/a-dial-without-answer-is-waited-for", Kind: Lost, In: "internal/worm/node", Packages: node, Run: "TestPeersAreDialledAgain",
			Breaks: "In WitnessWait a server tries a member once: on the dial that began when the member was away.",
			Old:    "Sub(p.began) >= patience {", New: "Sub(p.began) >= patienceMax {",
		},
		{
			Name: "worm/node/a-member-that-reports-is-not-asked", Kind: Lost, In: "internal/worm/node", Packages: node, Run: "TestPeersAreDialledAgain",
			Breaks: "A member that has come back, and reports, is asked only when an old dial has ended.",
			Old:    "\tif fresh {\n\t\ts.witness.returned", New: "\tif fresh && false {\n\t\ts.witness.returned",
		},
		{
			Name: "worm/node/a-member-that-reports-is-dialled-anew", Kind: Stuck, In: "internal/worm/node", Packages: node, Run: "TestDistantMembersAreReached",
			Breaks: "A distant member that reports all the time is never reached: each report ends the dial.",
			Old:    "if a.heard == 0 || now.Sub(a.heard) >", New: "if a.heard >= 0 || now.Sub(a.heard) >",
		},
		{
			Name: "worm/node/forged-reports-count", Kind: Lost, In: "internal/worm/node", Packages: node, Run: "TestForgedReportsKeepNobodyWaiting",
			Breaks: "A client that forges reports of a server whose disk was put back keeps from it the verdict that denies it.",
			Old:    "return nil, b != nil && !b.has(", New: "return nil, b != nil && !b.take(",
		},
		{
			Name: "worm/node/the-same-report-is-signed-again", Kind: Stuck, In: "internal/worm/node", Packages: node, Run: "TestReportsAreReplayed|TestForgedReports",
			Breaks: "A member's last report that is sent again has a signature verified and one made each time.",
			Old:    "return last.verdict, false", New: "return nil, false",
		},
		{
			Name: "worm/node/each-replay-is-signed", Kind: Stuck, In: "internal/worm/node", Packages: node, Run: "TestReportsAreReplayed",
			Breaks: "Whoever sends a member's old reports again, on many connections, keeps a server at signatures.",
			Old:    "return nil, b != nil && !b.has(now, reportEvery, reportBurst)", New: "return nil, b != nil && !b.has(now, 0, reportBurst)",
		},
		{
			Name: "worm/node/reports-never-begin", Kind: Stuck, In: "internal/worm/node", Packages: node, Run: "TestToldWhenWritten",
			Breaks: "The reports that waited for the disk do not begin when the life is on it.",
			Old:    "if w.postponed && s.commits.durable() >= w.begun {", New: "if w.postponed && s.commits.durable() < w.begun {",
		},
		{
			Name: "worm/node/another-form-is-no-trouble", Kind: WrongAnswer, In: "internal/worm/node", Packages: node, Run: "TestOtherVersions",
			Breaks: "A server whose reports a member of another version refuses stays mute, and its status does not say why.",
			Old:    "if errors.Is(err, wor.ErrLimit) {\n\t\t// The peer runs", New: "if errors.Is(err, wor.ErrSealed) {\n\t\t// The peer runs",
		},
		{
			Name: "worm/node/the-wait-began-with-the-start", Kind: Lost, In: "internal/worm/node", Packages: node, Run: "TestWaitsForOneMore",
			Breaks: "A server that was alone for long serves beside the first half of the others that comes, and does not wait.",
			Old:    "if !p.mute && p.since == 0 {", New: "if p.since == 0 {",
		},
		{
			Name: "worm/node/told-before-it-is-written", Kind: Stuck, In: "internal/worm/node", Packages: node, Run: "TestToldWhenWritten",
			Breaks: "Peers hear of a life that the disk may not know of after a crash, and call the next one rolled back.",
			Old:    "if s.commits.durable() < w.begun {", New: "if false {",
		},
		{
			Name: "worm/node/sightings-are-not-written", Kind: Lost, In: "internal/worm/node", Packages: node, Run: "TestWitness",
			Breaks: "A peer that restarts has forgotten which generation it saw.",
			Old:    "\tw.s.commits.stage(recordWitness, 0, encodeSighting(id, now))\n", New: "",
		},
		{
			Name: "worm/node/the-evidence-is-overwritten", Kind: Lost, In: "internal/worm/node", Packages: node, Run: "TestWitness",
			Breaks: "A server whose disk was put back has its witness forget what speaks against it by starting again.",
			Old:    "(seen == (sighting{}) || seen == r.knows)", New: "true",
		},
		{
			Name: "worm/node/who-hangs-up-is-dialled-at-once", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: "TestWelcomeAndHangUp",
			Breaks: "A server that welcomes and hangs up is dialled a hundred times a second.",
			Old:    "if p.state == welcomed && now.Sub(p.since) >= p.t.opt.BackoffMax {", New: "if p.state == welcomed {",
		},
		{
			Name: "worm/node/one-that-hung-up-once-is-never-trusted", Kind: Stuck, In: "internal/worm/node", Packages: node, Run: "TestWelcomeAndHangUp",
			Breaks: "A server is dialled rarely forever, once it was away.",
			Old:    "if p.state == welcomed && now.Sub(p.since) >= p.t.opt.BackoffMax {", New: "if false {",
		},
		{
			Name: "worm/node/each-address-has-its-share", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: "TestConnsOfOneNetwork",
			Breaks: "A machine has as many connections as it has addresses in its IPv6 network.",
			Old:    "n.networks[network] >= s.opt.HostConnsMax", New: "n.networks[network] >= s.opt.HostConnsMax && network[0] != '2'",
		},
		{
			Name: "worm/node/one-address-loses-before-a-network", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: "TestConnsOfOneNetwork",
			Breaks: "The host with most connections makes room, and not the network with more.",
			Old:    "\t\t\tcmp.Compare(networks[found.network], networks[c.network]),\n\t\t\tcmp.Compare(c.network, found.network),\n", New: "",
		},
		{
			Name: "worm/node/a-refused-epoch-has-begun", Kind: WrongAnswer, In: "internal/worm/node", Packages: node, Run: "TestInvalidConfiguration",
			Breaks: "A server does not notice that it cannot begin an epoch.",
			Old:    "if p.group.Epoch() != c.Epoch {", New: "if false {",
		},
		{
			Name: "worm/node/reports-on-a-full-disk", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: "TestReportsAreRefused",
			Breaks: "Reports of servers are kept in memory while the disk has no room for them.",
			Old:    "case s.unable() || s.pressed(c),", New: "case s.pressed(c),",
		},
		{
			Name: "worm/node/reports-under-pressure", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: "TestReportsAreRefused",
			Breaks: "Reports of servers are not refused when too much waits.",
			Old:    "case s.unable() || s.pressed(c),", New: "case s.unable(),",
		},
		{
			Name: "worm/node/strangers-report-without-bound", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: "TestReportsOfStrangers",
			Breaks: "Each key that a stranger makes costs a record.",
			Old:    "!s.witness.strangers.take(now, strangerEvery, strangerBurst):", New: "false:",
		},
		{
			Name: "worm/node/members-share-with-strangers", Kind: Stuck, In: "internal/worm/node", Packages: node, Run: "TestReportsOfStrangers",
			Breaks: "A flood of strangers keeps a member from being confirmed.",
			Old:    "!member && !s.witness", New: "!s.witness",
		},
		{
			Name: "worm/node/reports-of-a-connection-without-bound", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: "TestReportsOfOneConnection",
			Breaks: "One connection has a server verify and make signatures as fast as it sends.",
			Old:    "!c.reports.take(now, reportEvery, reportBurst),", New: "false,",
		},
		{
			Name: "worm/node/state-is-not-saved-whole", Kind: Lost, In: "internal/worm/node", Packages: node, Run: "TestCheckpoint",
			Breaks: "A checkpoint has no sightings.",
			Old:    "record(recordWitness, encodeSighting(id, w.seen[id]))", New: "_ = id",
		},
		{
			Name: "worm/node/expired-and-done", Kind: WrongAnswer, In: "internal/worm/node", Packages: node, Run: "TestBackpressure",
			Breaks: "A request whose time has passed is done.",
			Old:    "return budget > 0 && time.Duration(w) >= budget", New: "return false",
		},
		{
			Name: "worm/node/input-without-bound", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: "TestBackpressure",
			Breaks: "What comes from who takes no answers is kept without bound.",
			Old:    "if len(c.stash)+len(b) > c.s.opt.ConnInflightMax {", New: "if false {",
		},
		{
			Name: "worm/node/replies-without-bound", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: refuse,
			Breaks: "Replies that wait for the disk are kept without bound.",
			Old:    "case s.pressed(c):", New: "case false:",
		},
		{
			Name: "worm/node/drain-loses-replies", Kind: Lost, In: "internal/worm/node", Packages: node, Run: "TestDrain",
			Breaks: "A drain closes connections before their replies have arrived.",
			Old:    "c.leaving = true\n\t\t\tif c.said {", New: "c.leaving = true\n\t\t\tif c.end(errLeft); false {",
		},
		{
			Name: "worm/node/answered-twice", Kind: WrongAnswer, In: "internal/worm/node", Packages: node, Run: "TestServices",
			Breaks: "A handler that answers twice is answered twice.",
			Old:    "\tif v.over {", New: "\tif false {",
		},
		{
			Name: "worm/node/a-gap-passes", Kind: Lost, In: "internal/worm/node", Packages: node, Run: client,
			Breaks: "A listener that has missed a note goes on.",
			Old:    "if !l.live || n.Number != l.next {", New: "if !l.live || n.Number == 0 {",
		},
		{
			Name: "worm/node/a-loss-is-no-gap", Kind: Lost, In: "internal/worm/node", Packages: node, Run: client,
			Breaks: "A listener is not told that its connection was lost.",
			Old:    "\tl.id = 0\n\tif !l.stopped {\n\t\tl.miss()\n\t}\n", New: "\tl.id = 0\n",
		},
		{
			Name: "worm/node/calls-are-forgotten-with-the-connection", Kind: Stuck, In: "internal/worm/node", Packages: node, Run: client,
			Breaks: "Calls on a connection that has ended wait for their time.",
			Old:    "\tp.loseAll(wor.ErrClosed)\n", New: "",
		},
		{
			Name: "worm/node/sent-is-not-arrived", Kind: WrongAnswer, In: "internal/worm/node", Packages: node, Run: client,
			Breaks: "An invocation that was sent and lost is said not to have arrived.",
			Old:    "if c.id <= p.written {", New: "if false {",
		},
		{
			Name: "worm/node/any-server-is-welcome", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: client,
			Breaks: "A client takes the answers of another server than it asked.",
			Old:    "case w.Server != p.key.id:", New: "case false:",
		},
		{
			Name: "worm/node/silence-is-life", Kind: Stuck, In: "internal/worm/node", Packages: node, Run: client,
			Breaks: "A connection on which nothing comes is never given up.",
			Old:    "if silent >= p.t.opt.DeadAfter && p.state != dialling {", New: "if false {",
		},
		{
			Name: "worm/node/calls-without-bound", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: client,
			Breaks: "Calls to a server that does not answer take memory without bound.",
			Old:    "used > 0 && used+n > p.t.opt.InflightMax", New: "used < 0",
		},
		{
			Name: "worm/node/nothing-is-seen", Kind: Lost, In: "internal/worm/node", Packages: node, Run: client,
			Breaks: "A client forgets how far it has seen a server.",
			Old:    "\t\tp.see(p.generation, e.token)\n", New: "",
		},
		{
			Name: "worm/node/a-write-for-each-call", Kind: WrongAnswer, In: "internal/worm/node", Packages: node, Run: client,
			Breaks: "Calls of one turn leave one by one.",
			Old:    "\tp.dirty = true\n\tt.dirty = append(t.dirty, p)\n", New: "\tp.write()\n",
		},
	}
}
