package live

// Graph is a finite graph of states and steps with the values of atoms. The
// states that are initial have numbers below Initial. Stuttering steps are
// understood and need not be there.
type Graph struct {
	Initial int
	// StateWords and StepWords are how many words of atoms there are for each
	// state and for each step.
	StateWords, StepWords int
	StateAtoms            []uint64
	StepAtoms             []uint64
	// The steps of state s are To[Start[s]:Start[s+1]].
	Start []uint64
	To    []uint32
}

// States is the number of states.
func (g *Graph) States() int { return len(g.Start) - 1 }

// AtomKind says where the value of an atom is found.
type AtomKind uint8

// The kinds.
const (
	// StateAtom: a predicate of the state that a step begins in.
	StateAtom AtomKind = iota
	// AngleAtom: <A>_v of a step; it is false of a stuttering step.
	AngleAtom
	// BoxAtom: [A]_v of a step; it is true of a stuttering step.
	BoxAtom
)

// Problem is a graph and what is asked of it.
type Problem struct {
	Atoms []AtomKind
	// Assume holds of the behaviours that count; Property should hold of them.
	Assume, Property *Formula
}

// layout says where in a letter each atom is taken from: the letter of a step
// has first the state's words, then the step's.
type layout struct {
	stateWords, stepWords int
	at                    []int // by atom: the bit in the letter
	stutter               []uint64
}

// Layout numbers the atoms of each kind: bit i of a state's words is the i-th
// atom of the kind StateAtom, bit i of a step's the i-th of the others.
func Layout(atoms []AtomKind) (state, step []int) {
	for i, k := range atoms {
		if k == StateAtom {
			state = append(state, i)
		} else {
			step = append(step, i)
		}
	}
	return state, step
}

// Words is how many words hold n atoms.
func Words(n int) int { return (n + 63) / 64 }

func newLayout(atoms []AtomKind) *layout {
	state, step := Layout(atoms)
	l := &layout{stateWords: Words(len(state)), stepWords: Words(len(step)), at: make([]int, len(atoms))}
	l.stutter = make([]uint64, l.stepWords)
	for i, a := range state {
		l.at[a] = i
	}
	for i, a := range step {
		l.at[a] = l.stateWords*64 + i
		if atoms[a] == BoxAtom {
			l.stutter[i/64] |= 1 << (i % 64)
		}
	}
	return l
}

// place replaces the numbers of atoms by their places in letters.
func (l *layout) place(f *Formula) *Formula {
	g := &Formula{Op: f.Op, Atom: f.Atom}
	if f.Op == Atom {
		g.Atom = l.at[f.Atom]
	}
	for _, a := range f.Args {
		g.Args = append(g.Args, l.place(a))
	}
	return g
}
