// SPDX-License-Identifier: Apache-2.0

// Package child starts processes so that they end with the process that has started them.
//
// In: a command. Out: the attributes to start it with, or a server that has said that it
// listens. Promised: on Linux it is killed when its parent dies, whatever the parent
// dies of; elsewhere it ends only when the parent ends it.
package child
