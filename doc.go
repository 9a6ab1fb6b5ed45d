// SPDX-License-Identifier: Apache-2.0

// Package ashlar checks, simulates, translates and compiles specifications written
// in TLA+, PlusCal and Modular PlusCal, and checks traces of running systems against
// them. It is what the command ashlar does, for programs and tests.
//
// In: the path of a module, and options. Out: results, whose figures are exact. What
// is wrong with a specification or its configuration is an *InputError, which has a
// place and a repair for everything in it; every other error is one of files, or of
// an argument.
//
// It promises that a result says ok only where everything that the configuration
// asks for was checked in every reachable state. Its functions may be called from
// several goroutines, and a Specification may be used by several.
package ashlar
