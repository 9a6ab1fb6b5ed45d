// SPDX-License-Identifier: Apache-2.0

package mutant

// wormWireMutants are about the frames between clients and servers.
func wormWireMutants() []Mutant {
	wire := []string{"internal/worm/wire"}
	return []Mutant{
		{
			Name: "worm/wire/the-checksum-is-not-compared", Kind: Unguarded, In: "link", Packages: wire,
			Breaks: "Damaged frames pass.",
			Old:    "if checksum(whole[:end]) == binary",
			New:    "if true || checksum(whole[:end]) == binary",
		},
		{
			Name: "worm/wire/the-length-has-no-checksum", Kind: Unguarded, In: "link", Packages: wire,
			Breaks: "The checksum leaves out the head, so that a damaged type passes.",
			Old:    "func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }",
			New:    "func checksum(b []byte) uint32 { return crc32.Checksum(b[headLen:], crc32.MakeTable(crc32.Castagnoli)) }",
		},
		{
			Name: "worm/wire/a-length-has-no-bound", Kind: Unguarded, In: "link", Packages: wire,
			Breaks: "A stranger has memory kept for frames of 4 GiB.",
			Old:    "case n > uint64(limit):",
			New:    "case n > 1<<40:",
		},
		{
			Name: "worm/wire/a-length-may-be-too-small", Kind: Unguarded, In: "link", Packages: wire,
			Breaks: "A frame without room for its checksum is cut out of the stream.",
			Old:    "case n < frameMin:",
			New:    "case n < lengthLen:",
		},
		{
			Name: "worm/wire/any-version-will-do", Kind: Unguarded, In: "link", Packages: wire,
			Breaks: "Frames of a later version are read as if they were of this one.",
			Old:    "b[lengthLen] != Version:",
			New:    "b[lengthLen] == 77:",
		},
		{
			Name: "worm/wire/an-error-is-forgotten", Kind: Unguarded, In: "internal/worm/wire", Packages: wire,
			Breaks: "After a bad frame the stream goes on in its middle.",
			Old:    "\tif s.err != nil {\n\t\treturn Frame{}, false, s.err\n\t}\n",
			New:    "",
		},
		{
			Name: "worm/wire/pieces-take-what-follows", Kind: WrongAnswer, In: "link", Packages: wire,
			Breaks: "A frame that came in pieces swallows the beginning of the next.",
			Old:    "n := min(need-len(s.rest), len(s.in))",
			New:    "n := len(s.in)",
		},
		{
			Name: "worm/wire/what-was-not-taken-is-lost", Kind: WrongAnswer, In: "link", Packages: wire,
			Breaks: "Bytes that are fed before the last ones were taken replace them.",
			Old:    "		s.in = append(s.in[:len(s.in):len(s.in)], b...)\n		return\n",
			New:    "",
		},
		{
			Name: "worm/wire/too-long-a-frame-is-sent", Kind: Unguarded, In: "internal/worm/wire", Packages: wire,
			Breaks: "A frame that no scanner takes is encoded, and costs the connection.",
			Old:    "n > FrameMax {\n		e.buf = e.buf[:e.start]",
			New:    "n > 2*FrameMax {\n		e.buf = e.buf[:e.start]",
		},
		{
			Name: "worm/wire/long-numbers-pass", Kind: Unguarded, In: "internal/worm/wire", Packages: wire,
			Breaks: "A number may be written longer than it is.",
			Old:    "case r.b[n-1] == 0:",
			New:    "case false:",
		},
		{
			Name: "worm/wire/numbers-are-cut", Kind: Unguarded, In: "internal/worm/wire", Packages: wire,
			Breaks: "Of an epoch of more than 32 bits the lower ones are taken.",
			Old:    "if x > math.MaxUint32 {",
			New:    "if x > math.MaxUint64-1 {",
		},
		{
			Name: "worm/wire/trailing-bytes-pass", Kind: Unguarded, In: "internal/worm/wire", Packages: wire,
			Breaks: "What stands behind the last field is not looked at.",
			Old:    "	if len(r.b) > 0 {\n		r.fail(\"trailing bytes\")\n	}\n",
			New:    "",
		},
		{
			Name: "worm/wire/zero-fields-pass", Kind: Unguarded, In: "internal/worm/wire", Packages: wire,
			Breaks: "The same request has two sequences of bytes.",
			Old:    "	if zero {\n",
			New:    "	if false {\n",
		},
		{
			Name: "worm/wire/a-value-owns-what-follows", Kind: NotAtomic, In: "internal/worm/wire", Packages: wire,
			Breaks: "Who appends to a value writes over the fields behind it.",
			Old:    "b := r.b[:n:n]",
			New:    "b := r.b[:n]",
		},
		{
			Name: "worm/wire/no-time-left-is-no-bound", Kind: WrongAnswer, In: "internal/worm/wire", Packages: wire,
			Breaks: "A request whose time is over is sent as one that may take forever.",
			Old:    "	case d < 0:\n		return 1\n",
			New:    "	case d < 0:\n		return 0\n",
		},
		{
			Name: "worm/wire/budgets-are-rounded-down", Kind: WrongAnswer, In: "internal/worm/wire", Packages: wire,
			Breaks: "A budget of less than a microsecond is sent as one without bound.",
			Old:    "(uint64(d)+uint64(time.Microsecond)-1)/uint64(time.Microsecond)",
			New:    "uint64(d)/uint64(time.Microsecond)",
		},
		{
			Name: "worm/wire/a-request-keeps-the-one-before", Kind: WrongAnswer, In: "internal/worm/wire", Packages: wire,
			Breaks: "Fields that a request does not have are those of the one decoded before.",
			Old:    "	*q = wor.Request{}\n",
			New:    "",
		},
		{
			Name: "worm/wire/unknown-fields-pass", Kind: Unguarded, In: "internal/worm/wire", Packages: wire,
			Breaks: "A field that this version does not know is taken for none.",
			Old:    "if fields >= requestEnd {",
			New:    "if false {",
		},
		{
			Name: "worm/wire/runs-are-believed", Kind: Unguarded, In: "internal/worm/wire", Packages: wire,
			Breaks: "A count of runs takes memory before the runs are there.",
			Old:    "if n > uint64(len(r.b)) || n > wor.RangeMax {",
			New:    "if n > wor.RangeMax {",
		},
		{
			Name: "worm/wire/a-reply-covers-more-than-was-asked", Kind: Unguarded, In: "internal/worm/wire", Packages: wire,
			Breaks: "Runs may be about more registers than a request can name.",
			Old:    "	if covered > wor.RangeMax {\n		r.fail(",
			New:    "	if false {\n		r.fail(",
		},
		{
			Name: "worm/wire/a-run-of-none-passes", Kind: Unguarded, In: "internal/worm/wire", Packages: wire,
			Breaks: "A reply may cover nothing, and its asker asks forever.",
			Old:    "run.Count <= 1 {",
			New:    "run.Count == 1 {",
		},
		{
			Name: "worm/wire/the-same-ballot-as-the-first", Kind: WrongAnswer, In: "internal/worm/wire", Packages: wire,
			Breaks: "A run that has the ballot of the one before is decoded with the first run's.",
			Old:    "		before = run.Promised\n		covered += uint64(run.Count)\n	}\n	if covered > wor.RangeMax {\n		r.fail",
			New:    "		if i == 0 {\n			before = run.Promised\n		}\n		covered += uint64(run.Count)\n	}\n	if covered > wor.RangeMax {\n		r.fail",
		},
		{
			Name: "worm/wire/runs-keep-those-before", Kind: WrongAnswer, In: "internal/worm/wire", Packages: wire,
			Breaks: "A reply without runs has those of the one decoded before.",
			Old:    "*m = wor.Reply{Runs: m.Runs[:0]}",
			New:    "*m = wor.Reply{Runs: m.Runs}",
		},
		{
			Name: "worm/wire/payloads-have-no-bound", Kind: Unguarded, In: "internal/worm/wire", Packages: wire,
			Breaks: "A service is handed more than it was promised.",
			Old:    "	if len(r.b) > PayloadMax {\n",
			New:    "	if false {\n",
		},
		{
			Name: "worm/wire/later-hellos-are-refused", Kind: Stuck, In: "internal/worm/wire", Packages: wire,
			Breaks: "Who speaks a later version as well cannot even be told which one is spoken here.",
			Old:    "\tcase h.Version > Version:\n",
			New:    "\tcase h.Version > Version+1:\n",
		},
		{
			Name: "worm/wire/later-versions-are-not-proved-to", Kind: Stuck, In: "internal/worm/wire", Packages: wire, Run: "TestLaterHellos",
			Breaks: "A server drops the challenge of a client that speaks a later version too, which then takes it for an impostor.",
			Old:    "if flags&helloChallenge != 0 {\n\t\tcopy(", New: "if flags&helloChallenge != 0 && h.Version <= Version {\n\t\tcopy(",
		},
	}
}
