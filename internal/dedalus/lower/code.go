// SPDX-License-Identifier: Apache-2.0

package lower

import "github.com/ashlar-dev/ashlar/internal/source"

// Codes of diagnostics. Each comment shows an input that has it.
const (
	// Twice: component c {} component c {}
	Twice source.Code = "Twice"
	// UnknownComponent: static l(n: node) = nodes nobody
	UnknownComponent source.Code = "UnknownComponent"
	// UnknownRelation: sync r(x) <- nobodyDerives(x)
	UnknownRelation source.Code = "UnknownRelation"
	// UnknownFunction: sync r(y) <- q(x), y := f(x)
	UnknownFunction source.Code = "UnknownFunction"
	// UnknownType: var r(x: number)
	UnknownType source.Code = "UnknownType"
	// UnknownColumn: static e(a: u64) = { (1) } fd b -> a
	UnknownColumn source.Code = "UnknownColumn"
	// Arguments: sync r(x) <- q(x), q(x, y)
	Arguments source.Code = "Arguments"
	// TypeMismatch: sync r(x) <- q(x), x == "a", x == 1
	TypeMismatch source.Code = "TypeMismatch"
	// TypeUnknown: sync r(x) <- r(x)
	TypeUnknown source.Code = "TypeUnknown"
	// Unbound: sync r(x, y) <- q(x)
	Unbound source.Code = "Unbound"
	// BoundTwice: sync r(x) <- q(x), x := 1
	BoundTwice source.Code = "BoundTwice"
	// HeadNotDerivable: input q(x: u64)   sync q(x) <- r(x)
	HeadNotDerivable source.Code = "HeadNotDerivable"
	// OutputRead: sync seen(n) <- out(n), where out is an output.
	OutputRead source.Code = "OutputRead"
	// AggregateMisplaced: next r(count<x>) <- q(x)
	AggregateMisplaced source.Code = "AggregateMisplaced"
	// Unstratified: sync r(x) <- q(x), not r(x)
	Unstratified source.Code = "Unstratified"
	// BadDeploy: deploy { c: 0 }
	BadDeploy source.Code = "BadDeploy"
	// BadFact: static e(a: u64) = { (x) }
	BadFact source.Code = "BadFact"
	// BadDependency: static e(a: u64, b: u64) = { (1, 1), (1, 2) } fd a -> b
	BadDependency source.Code = "BadDependency"
	// BadTimer: timer t every 10
	BadTimer source.Code = "BadTimer"
	// BadFunction: fn f(x: u64) -> u64 = y
	BadFunction source.Code = "BadFunction"
	// BadAssume: assume hope r
	BadAssume source.Code = "BadAssume"

	// Single warns of a variable that occurs once: sync r(x) <- q(x, y)
	Single source.Code = "Single"
	// Unread warns of a relation that is derived and never read.
	Unread source.Code = "Unread"
	// Endless warns of a rule that derives ever new facts of its own within a tick, as
	// nothing bounds them: sync up(y) <- up(x), y := x + 1
	Endless source.Code = "Endless"
	// Resent warns of messages that are sent again at every tick, as all that
	// they are made of is kept forever.
	Resent source.Code = "Resent"
)
