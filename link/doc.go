// SPDX-License-Identifier: Apache-2.0

// Package link is the one way in which processes of Ashlar talk: frames over a
// byte stream, a handshake that says who is there and proves it, signs of life,
// limits on what strangers cost, and connections that are made again when they
// break.
//
// In: an env.Network, and what a service says: the types of its frames from
// Service on, their payloads, and a body of its own in the hello and the
// welcome. Out: whole frames, in order, from peers that speak the same version,
// are of the same service and system, and know the shared key where one is set.
//
// A Session is one connection, from its first byte to its last, as a step
// machine: it takes no lock and starts no goroutine. A Door bounds the sessions
// that others have begun. Client and Server are shells around the two for
// services that have one lock: a Client keeps a connection to one address, a
// Server accepts connections.
//
// # Security
//
// Each service has the same three choices. With Options.Key, both sides prove
// that they know the key, once for each connection; the key hides nothing, and
// bytes that are altered later are not noticed. With TLS, which is the
// Network's (osenv.NetworkOptions), the stream is secret and authentic, and
// certificates on both sides say who may connect. Both together are the third.
// With neither, all hosts that can connect are trusted.
//
// Promised: bytes from outside never panic, never make a reader wait for ever,
// and take memory only as far as they were sent, within the limits of Options.
// No length or count is believed before the bytes are there. A peer that breaks
// a rule is sent the rule and loses the connection. When too many connections
// are open, the host with most of them loses one.
//
// Refused: that a frame which was sent arrives. When a connection breaks, frames
// are lost, and the service sends again what must not be.
//
// docs/format/link.md describes the bytes.
package link
