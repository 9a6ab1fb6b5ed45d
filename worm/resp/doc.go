// SPDX-License-Identifier: Apache-2.0

// Package resp is the Redis protocol in front of a transactional store: a codec
// for RESP2 and as much of RESP3 as clients ask for, and a subset of the commands.
//
// In: bytes of a connection, a Store. Out: transactions for the Store, and bytes
// to be sent, in the order of the commands. There is no I/O here: the owner of the
// connection calls Conn.Feed with what arrives and sends what Conn.Take returns.
//
// Promised: replies in order. Commands of one connection that touch the same key
// take effect in their order; others that are sent without waiting for replies
// take effect in any order, each between its arrival and its reply. MULTI and
// EXEC are one transaction, which all see whole or not at all; if a key that was
// watched was written meanwhile, EXEC answers nil. What one connection takes of
// memory is bounded by Limits.
//
// Refused: everything that expires or blocks, other types than strings, several
// databases, AUTH, pub/sub, scripts.
//
// Sources: the RESP specification and the command reference of Redis.
package resp
