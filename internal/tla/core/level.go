// SPDX-License-Identifier: Apache-2.0

package core

// LevelOf is the level of e: the highest level of its parts. A definition has
// the level in its Def, and a bound name is a constant.
func LevelOf(e Expr) Level {
	level, most := OwnLevel(e)
	switch e := e.(type) {
	case *Call:
		level = max(level, e.Def.Level)
	case *OpRef:
		level = max(level, e.Def.Level)
	case *Let:
		// The definitions count only where they are called.
		return max(level, LevelOf(e.Body))
	}
	for x := range Children(e, EvaluationOrder) {
		if level >= most {
			break
		}
		level = max(level, min(most, LevelOf(x)))
	}
	return level
}

// OwnLevel returns what the form of e itself contributes: the minimum level of
// e, and the maximum that its parts can give it.
func OwnLevel(e Expr) (least, most Level) {
	switch e := e.(type) {
	case *VarRef:
		return StateLevel, StateLevel
	case *Op:
		switch e.Op {
		case OpPrime, OpUnchanged, OpCompose:
			return ActionLevel, TemporalLevel
		case OpEnabled:
			return StateLevel, StateLevel
		case OpAlways, OpEventually, OpLeadsTo, OpGuarantee:
			return TemporalLevel, TemporalLevel
		}
	case *Box, *Angle:
		return ActionLevel, TemporalLevel
	case *TemporalQuant, *Fair:
		return TemporalLevel, TemporalLevel
	}
	return ConstantLevel, TemporalLevel
}
