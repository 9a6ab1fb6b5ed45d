// SPDX-License-Identifier: Apache-2.0

// Package measure runs a compiled program on as many machines as it has instances, in one
// thread, and measures what they would do.
//
// In: a compiled program, its deployment, the commands of a load, and the costs of the
// simulated parts: system calls, links and disks. Out: for each number of commands in
// progress, the throughput, the latency of commands, and what each node did.
//
// Each node is a host (package host) with its real connections' framing in a simulated
// world (package sim). Its clock advances by the processor time that its code took, on this
// thread, while the other nodes wait. So queues and batches are those of N machines
// with one core each, while one core of this machine does the work of all of them.
// Clients take no time.
//
// Promised: every counted command got the answer that the load requires, or Measure returns
// an error. If time is counted instead of taken from the thread, equal runs have equal
// results.
//
// Not modelled: processor caches of each node's own, which would make nodes faster; garbage
// collection, and the kernel's work beyond calls on connections, which would make them
// slower. The caller reports how much processor time garbage collection took.
package measure
