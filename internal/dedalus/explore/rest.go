// SPDX-License-Identifier: Apache-2.0

package explore

// A run in which the adversary does nothing more continues forever in states that can reach
// each other by fair steps, if each fair step that is possible infinitely often is taken. Its
// states are a strongly connected component that no fair step leaves. Outputs only grow, so
// they are the same in all of these states.

// rest returns a state of each strongly connected component that no fair step leaves. It
// excludes components from which a state can be reached that was not visited. The algorithm is
// Tarjan's, with an explicit stack.
func (g *graph) rest() []int32 {
	t := &tarjan{g: g, index: make([]int32, len(g.keys)), low: make([]int32, len(g.keys)), on: make([]bool, len(g.keys)), leaves: make([]bool, len(g.keys))}
	for v := range int32(len(g.keys)) {
		if t.index[v] == 0 {
			t.visit(v)
		}
	}
	return t.out
}

type tarjan struct {
	g *graph
	// index is the order in which states were found, from 1; low is the least index that each
	// state can reach.
	index, low []int32
	on         []bool // whether a state is on the stack of states without a component
	leaves     []bool // that a fair step leads to another component, or to an unknown place
	stack, out []int32
	last       int32
}

// frame is a state in progress, and the index of its next step.
type frame struct {
	v    int32
	next int
}

func (t *tarjan) enter(v int32) frame {
	t.last++
	t.index[v], t.low[v] = t.last, t.last
	t.stack, t.on[v] = append(t.stack, v), true
	t.leaves[v] = !t.g.visited[v]
	return frame{v: v}
}

func (t *tarjan) visit(v int32) {
	frames := []frame{t.enter(v)}
	for len(frames) > 0 {
		f := &frames[len(frames)-1]
		if f.next < len(t.g.fair[f.v]) {
			w := t.g.fair[f.v][f.next]
			f.next++
			switch {
			case t.index[w] == 0:
				frames = append(frames, t.enter(w))
			case t.on[w]:
				t.low[f.v] = min(t.low[f.v], t.index[w])
			default:
				t.leaves[f.v] = true
			}
			continue
		}
		v := f.v
		frames = frames[:len(frames)-1]
		done := t.low[v] == t.index[v]
		if done {
			t.component(v)
		}
		if len(frames) > 0 {
			u := frames[len(frames)-1].v
			t.low[u] = min(t.low[u], t.low[v])
			t.leaves[u] = t.leaves[u] || done
		}
	}
}

// component removes the component whose first state is v from the stack.
func (t *tarjan) component(v int32) {
	leaves := false
	for {
		w := t.stack[len(t.stack)-1]
		t.stack, t.on[w] = t.stack[:len(t.stack)-1], false
		leaves = leaves || t.leaves[w]
		if w == v {
			break
		}
	}
	if !leaves {
		t.out = append(t.out, v)
	}
}
