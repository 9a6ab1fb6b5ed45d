// SPDX-License-Identifier: Apache-2.0

// Package ashlar checks, simulates, translates and compiles specifications written
// in TLA+, PlusCal and Modular PlusCal, and checks traces of running systems against
// them. It gives programs and tests the functions of the command ashlar.
//
// Each function takes the path of a module and options. An error in a specification
// or its configuration is reported as an *InputError, which gives the position of
// each error and suggests a repair; every other error concerns a file or an
// argument.
//
// A result says OK only if everything that the configuration asks for was checked in
// every reachable state. The counts in results are exact. Several goroutines may
// call the functions and share a Specification.
package ashlar
