// SPDX-License-Identifier: Apache-2.0

// Package measure runs a compiled program on as many machines as it has instances, in one
// thread, and measures what they would do.
//
// In: a compiled program, its deployment, the commands of a load, and what machines cost
// that are not here: system calls, links and disks. Out: for each number of commands under
// way, the throughput, how long commands took, and what each node did.
//
// Each node is a host (package host) with its real connections' framing in a simulated
// world (package sim). Its clock advances by the processor time that its code took, on this
// thread, while the other nodes stand still. So queues and batches are those of N machines
// with one core each, while one core of this machine does the work of all of them.
// Clients take no time.
//
// Promised: every command that counts was answered with the answer that the load asks
// for, else there is an error. Where the time is not that of the thread but counted, equal
// runs have equal results.
//
// Not here: caches of a processor of one's own, which make nodes faster; collections of
// garbage and the kernel's work beyond the calls on connections, which make them slower.
// What runs a measurement says how much processor time the former took.
package measure
