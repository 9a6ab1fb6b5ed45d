// SPDX-License-Identifier: Apache-2.0

// Package link is the one way in which processes of Ashlar communicate. It
// provides frames over a byte stream, a handshake that identifies and
// authenticates the peer, keep-alive messages, limits on the resources that
// strangers can consume, and automatic reconnection.
//
// In: an env.Network, and what the service defines: the types of its frames from
// Service on, their payloads, and its own body in the hello and the welcome.
// Out: whole frames, in order, from peers that speak the same version, belong to
// the same service and system, and know the shared key if one is set.
//
// A Session is one connection, from its first byte to its last, as a step
// machine: it takes no lock and starts no goroutine. A Door bounds the incoming
// sessions. Client and Server wrap the two for services that have one lock: a
// Client maintains a connection to one address, a Server accepts connections.
//
// # Security
//
// Each service has the same three choices. With Options.Key, both sides prove
// that they know the key, once for each connection. The key does not encrypt
// anything, and neither side notices bytes that are altered later. With TLS,
// which the Network provides (osenv.NetworkOptions), the stream is secret and
// authentic, and certificates on both sides determine who may connect. The third
// choice is both together. With neither, every host that can connect is trusted.
//
// Promised: bytes from outside never cause a panic, never make a reader wait
// forever, and make it allocate memory only in proportion to the bytes received,
// within the limits of Options. The package trusts no length or count before the
// bytes have arrived. A peer that violates a rule receives an error that names
// the rule, and loses the connection. When too many connections are open, the
// host with most of them loses one.
//
// Refused: guaranteed delivery. When a connection breaks, frames are lost, and
// the service must send again what must not be lost.
//
// docs/format/link.md describes the bytes.
package link
