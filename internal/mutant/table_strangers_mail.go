// SPDX-License-Identifier: Apache-2.0

package mutant

// strangersMailMutants are about the resources of a mail server that strangers
// can exhaust: its connection slots, its disk, its descriptors, its memory.
func strangersMailMutants() []Mutant {
	server, files := []string{"cmd/mailboat"}, []string{"goose/primitive/filesys"}
	const slow = "TestSlowClients"
	return []Mutant{
		{
			Name: "strangers/mail/stalled-clients-stay", Kind: Stuck, In: "cmd/mailboat", Packages: server, Run: slow,
			Breaks: "A client that sends a byte now and then keeps its place for as long as it likes.",
			Old:    "if since, waits := o.waiting(); waits && now.Sub(since) >= l.stall {",
			New:    "if since, waits := o.waiting(); waits && now.Sub(since) >= l.stall+l.session {",
		},
		{
			Name: "strangers/mail/a-byte-is-progress", Kind: Stuck, In: "cmd/mailboat", Packages: server, Run: slow,
			Breaks: "A client that never ends its line counts as one that gets on.",
			Old:    "if end := bytes.LastIndexByte(b[:n], '\\n'); end >= 0 {",
			New:    "if end := bytes.LastIndexByte(b[:n], '\\n'); n > 0 {",
		},
		{
			Name: "strangers/mail/lines-have-time", Kind: Stuck, In: "cmd/mailboat", Packages: server, Run: "TestLimitsOfAConnection",
			Breaks: "A line may take forever.",
			Old:    "reads && !c.line.IsZero() && over.Before(end)",
			New:    "reads && c.line.IsZero() && over.Before(end) && over.After(now)",
		},
		{
			Name: "strangers/mail/sessions-have-time", Kind: Stuck, In: "cmd/mailboat", Packages: server, Run: "TestLimitsOfAConnection",
			Breaks: "A connection may last forever.",
			Old:    "over := c.begun.Add(c.from.session); over.Before(end)",
			New:    "over := now.Add(c.from.session); over.Before(end)",
		},
		{
			Name: "strangers/mail/the-disk-is-not-asked", Kind: Unguarded, In: "cmd/mailboat", Packages: server, Run: "TestFullDisk|TestDelivery",
			Breaks: "Mail is taken for a disk that has no room.",
			Old:    "case free-g.reserve-g.writing < all:",
			New:    "case free < 0:",
		},
		{
			Name: "strangers/mail/copies-are-not-counted", Kind: Unguarded, In: "cmd/mailboat", Packages: server, Run: "TestDelivery",
			Breaks: "Room is asked for once, and a message for many takes it many times.",
			Old:    "all := (size + fileBytes) * int64(len(users))\n\tswitch",
			New:    "all := size + fileBytes\n\tswitch",
		},
		{
			Name: "strangers/mail/full-is-for-good", Kind: WrongAnswer, In: "mail/smtp", Packages: server, Run: "TestFullDisk",
			Breaks: "A sender whose mail finds no room is told that it never will.",
			Old:    "Code: 452, EnhancedCode: gosmtp.EnhancedCode{4, 3, 1}",
			New:    "Code: 552, EnhancedCode: gosmtp.EnhancedCode{5, 3, 1}",
		},
		{
			Name: "strangers/mail/mailboxes-grow", Kind: Unguarded, In: "cmd/mailboat", Packages: server, Run: "TestMailboxes|TestDelivery",
			Breaks: "A mailbox takes more than a session can read.",
			Old:    "if g.used[user]+size > g.mailboxMax {",
			New:    "if 0*g.used[user]+size > g.mailboxMax {",
		},
		{
			Name: "strangers/mail/open-mailboxes-are-not-summed", Kind: Unguarded, In: "cmd/mailboat", Packages: server, Run: "TestMailboxes",
			Breaks: "Any number of mailboxes is in memory at once.",
			Old:    "case g.open+g.mailboxMax > g.sessionsMax:",
			New:    "case g.mailboxMax > g.sessionsMax:",
		},
		{
			Name: "strangers/mail/closed-mailboxes-are-summed", Kind: Stuck, In: "cmd/mailboat", Packages: server, Run: "TestDelivery",
			Breaks: "What a session gives back stays counted, until no mailbox opens any more.",
			Old:    "for _, size := range g.sizes[user] {\n\t\tg.open -= size",
			New:    "for _, size := range g.sizes[user] {\n\t\tg.open -= size / 2",
		},
		{
			Name: "strangers/mail/too-few-descriptors", Kind: Unguarded, In: "cmd/mailboat", Packages: server, Run: "TestFewDescriptors",
			Breaks: "A server starts that will run out of descriptors.",
			Old:    "known && c.descriptors() > most {",
			New:    "!known && c.descriptors() > most {",
		},
		{
			Name: "strangers/mail/a-stop-waits-for-room", Kind: Stuck, In: "cmd/mailboat", Packages: server, Run: "TestStopDoesNotWait",
			Breaks: "A server that has to end waits for a disk that is full.",
			Old:    "\tcase <-g.ended:\n\tcase <-time",
			New:    "\tcase <-time",
		},
		{
			Name: "strangers/filesys/no-room-ends-the-process", Kind: Stuck, In: "goose/primitive/filesys", Packages: files, Run: "Waits",
			Breaks: "A full disk, or no descriptor, ends the process.",
			Old:    "if !slices.ContainsFunc(scarce, func(e error) bool { return errors.Is(err, e) }) {",
			New:    "if pause > 0 || !slices.ContainsFunc(scarce, func(e error) bool { return errors.Is(err, e) }) {",
		},
		{
			Name: "strangers/filesys/half-an-append-stays", Kind: NotAtomic, In: "goose/primitive/filesys", Packages: files, Run: "TestFullDiskWaits",
			Breaks: "An append that finds no room leaves what it has written, and writes it again.",
			Old:    "must(d.f.Truncate(int64(size)), \"undo a failed append",
			New:    "must(d.f.Truncate(int64(max(size, t.size(d)))), \"undo a failed append",
		},
	}
}
