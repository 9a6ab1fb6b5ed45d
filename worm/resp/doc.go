// SPDX-License-Identifier: Apache-2.0

// Package resp puts the Redis protocol in front of a transactional store: a codec
// for RESP2 and the part of RESP3 that clients use, and a subset of the commands.
//
// In: the bytes of a connection; a Store. Out: transactions for the Store, and the
// bytes to send, in the order of the commands. The package does no I/O: the owner
// of the connection calls Conn.Feed with the bytes that it receives and sends the
// bytes that Conn.Take returns.
//
// Promised: replies in order. Commands of one connection that touch the same key
// take effect in their order. Other pipelined commands take effect in any order,
// each between its arrival and its reply. MULTI and EXEC are one transaction:
// every client sees all of its effects or none. If another client has written a
// watched key meanwhile, EXEC returns nil. Limits bound the memory of a
// connection.
//
// Refused: expiry, blocking commands, value types other than strings, several
// databases, AUTH, pub/sub, scripts.
//
// Sources: the RESP specification and the command reference of Redis.
package resp
