// Package wor is the write-once register: the words that clients, servers and
// applications of WormSpace share, and what a register does.
//
// In: nothing. Out: addresses, ballots, tokens; requests and replies between a
// client and one server; the interfaces between the layers: a Server keeps
// registers, a Machine is one operation of a client on several servers, a Space
// is the whole address space as applications see it; the outcomes and their
// errors; the sequential specification of a register (Register).
//
// A register is unwritten, then holds one value for ever, until it is trimmed.
// Who wants to write captures it first: that gives a token, and the token may be
// stolen by the next who captures. A write that did not learn its outcome is
// Unknown: it may take effect later or never. A value that was once seen decided
// never changes, so that anybody may keep it.
//
// Refused: transport, time, storage. Everything here is a value.
//
// Sources: WormSpace (SoCC 2019), sections 2.1 and 3; docs/decisions/worm.md
// says where this is stricter.
package wor
