// SPDX-License-Identifier: Apache-2.0

// Package wor defines the write-once register: the types that clients, servers
// and applications of WormSpace share, and the behaviour of a register.
//
// In: nothing. Out: addresses, ballots, tokens; requests and replies between a
// client and one server; the interfaces between the layers: a Server stores
// registers, a Machine is one operation of a client on several servers, a Space
// is the whole address space as applications see it; the outcomes and their
// errors; the sequential specification of a register (Register).
//
// A register is unwritten, then holds one value permanently, until it is
// trimmed. To write a register, a client first captures it: that returns a
// token, which the next client that captures the register steals. A write whose
// client did not learn the outcome is Unknown: it may take effect later or
// never. A value that was once read as decided never changes, so any client may
// cache it.
//
// Refused: transport, time, storage. Everything here is a value.
//
// Sources: WormSpace (SoCC 2019), sections 2.1 and 3; docs/decisions/worm.md
// says where this is stricter.
package wor
