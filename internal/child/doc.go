// SPDX-License-Identifier: Apache-2.0

// Package child starts processes so that they end with the process that has started them.
//
// In: nothing. Out: the attributes with which to start such a process. Promised: on Linux
// it is killed when its parent dies, whatever the parent dies of; elsewhere it ends only
// when the parent ends it.
package child
