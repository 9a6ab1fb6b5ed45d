// SPDX-License-Identifier: Apache-2.0

// Package nemesis runs real clusters of WormSpace, in separate processes on
// real sockets and files, while it ends and hinders processes and connections.
//
// In: nothing; it has only tests. Out: a history that has no order, a server that
// serves with a disk that it must not use, or something that does not end.
//
// What happens to the servers: SIGKILL, SIGSTOP, orderly ends; to the connections,
// through a proxy for each pair of processes: they are cut, in the middle of
// frames too, delayed, delivered in small pieces, and held back without an end, in
// one direction or all; to the disks: one is empty, one is put back as it was.
// Servers are replaced meanwhile. Where network namespaces are permitted, each
// server is a host of its own on a switch that loses packets.
//
// Checked: registers, the contents of a log, single keys, and a replicated state
// machine are linearizable; the positions of a log respect real time; transactions
// are strictly serializable; and when everything is well again, everything ends
// and all that was acknowledged is there.
//
// Not here: the loss of writes that were not synced. A process that is killed
// loses none; package simulation has disks that do.
package nemesis
