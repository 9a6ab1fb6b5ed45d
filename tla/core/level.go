package core

// LevelOf is the level of e: the highest of its parts, where a definition has
// the level that its Def says and a bound name is a constant.
func LevelOf(e Expr) Level {
	level := ConstantLevel
	Walk(e, func(x Expr) bool {
		switch x := x.(type) {
		case *VarRef:
			level = max(level, StateLevel)
		case *Call:
			level = max(level, x.Def.Level)
		case *OpRef:
			level = max(level, x.Def.Level)
		case *Op:
			switch x.Op {
			case OpPrime, OpUnchanged, OpCompose:
				level = max(level, ActionLevel)
			case OpEnabled:
				level = max(level, StateLevel)
				return false
			case OpAlways, OpEventually, OpLeadsTo, OpGuarantee:
				level = TemporalLevel
			}
		case *Box, *Angle:
			level = max(level, ActionLevel)
		case *TemporalQuant, *Fair:
			level = TemporalLevel
		case *Let:
			// The definitions count where they are called.
			level = max(level, LevelOf(x.Body))
			return false
		}
		return level < TemporalLevel
	})
	return level
}
