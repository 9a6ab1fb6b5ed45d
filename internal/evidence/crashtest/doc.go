// SPDX-License-Identifier: Apache-2.0

// Package crashtest tests that a package that stores data on a disk satisfies
// its specification despite crashes.
//
// A specification is sequential: states, what each operation does to them and
// returns, and what a crash leaves of a state. A test describes the package
// once, as a System, and runs it in two worlds:
//
//   - Simulate: on the devices of goose/primitive/mem, whose machine crashes
//     before its 1st, 2nd, 3rd, ... operation, also during the recovery from
//     such a crash, with every kind of loss that the models allow;
//   - Kill: in a process of its own, on the file system of the machine, killed
//     at random moments.
//
// In both, clients run at once and write down their calls and returns. Check
// then looks for one order of the operations that explains them: each takes
// place at a moment between its call and its return; one that a crash
// interrupted takes place before the crash or never; and the crash itself does
// what the specification lets it do. This is durable linearizability.
package crashtest
