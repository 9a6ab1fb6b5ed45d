// SPDX-License-Identifier: Apache-2.0

package compile

import "github.com/ashlar-dev/ashlar/internal/source"

// The codes of the diagnostics. Each comment shows an input that causes it.
const (
	// Unsupported: x := LET f[n \in 1..3] == f[n-1] IN f
	Unsupported source.Code = "CompileUnsupported"
	// NotAValue: await x' = 1
	NotAValue source.Code = "CompileNotAValue"
	// NotVisible: the archetype reads a global variable in an operator.
	NotVisible source.Code = "CompileNotVisible"
	// ConstantOperator: CONSTANT Hash(_), and x := Hash(3), without Hash <- Op in the
	// configuration
	ConstantOperator source.Code = "CompileConstantOperator"
	// NumberTooLarge: x := 2147483648
	NumberTooLarge source.Code = "CompileNumberTooLarge"
	// Unbounded: await \E x : x > 3
	Unbounded source.Code = "CompileUnbounded"
	// Effects: x := RandomElement(1..3)
	Effects source.Code = "CompileEffects"
	// PrintInExpression (a warning): await PrintT(x)
	PrintInExpression source.Code = "CompilePrintInExpression"
	// NoArchetype: a plain PlusCal algorithm
	NoArchetype source.Code = "CompileNoArchetype"
	// UnknownInvariant: --check-invariants Nonsense
	UnknownInvariant source.Code = "CompileUnknownInvariant"
	// InvariantNotLocal: --check-invariants MutualExclusion, which speaks of
	// the pc of all processes
	InvariantNotLocal source.Code = "CompileInvariantNotLocal"
	// CrashNotCompiled: crash { $variable[1] := {}; }
	CrashNotCompiled source.Code = "CompileCrash"
	// AssumeNotCompiled (a warning): ASSUME \A f : f = f
	AssumeNotCompiled source.Code = "CompileAssumeNotCompiled"
)
