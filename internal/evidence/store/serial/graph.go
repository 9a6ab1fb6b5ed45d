// SPDX-License-Identifier: Apache-2.0

package serial

// edge records that a node comes before another.
type edge struct {
	to       int
	why, key string
}

func (c *checker) edge(from, to int, why, key string) {
	if from >= 0 && from != to {
		c.edges[from] = append(c.edges[from], edge{to, why, key})
	}
}

// cycle looks for a shortest cycle through some node. It first removes nodes from which
// no edge leads back, until none is left or all are on a cycle or between two.
func (c *checker) cycle() *Anomaly {
	in := make([]int, len(c.edges))
	for _, out := range c.edges {
		for _, e := range out {
			in[e.to]++
		}
	}
	var free []int
	for n := range in {
		if in[n] == 0 {
			free = append(free, n)
		}
	}
	left := len(in)
	for ; len(free) > 0; left-- {
		n := free[len(free)-1]
		free = free[:len(free)-1]
		in[n] = -1
		for _, e := range c.edges[n] {
			if in[e.to]--; in[e.to] == 0 {
				free = append(free, e.to)
			}
		}
	}
	if left == 0 {
		return nil
	}
	var best []Step
	tried := 0
	for n := range in {
		if in[n] < 0 {
			continue
		}
		if steps := c.back(n); steps != nil && (best == nil || len(steps) < len(best)) {
			best = steps
		}
		if tried++; tried > cyclesMax && best != nil {
			break
		}
	}
	return &Anomaly{What: "transactions that come before each other", Cycle: best}
}

// cyclesMax is the number of start nodes from which a cycle is looked for, to report a
// short one.
const cyclesMax = 200

// back returns a shortest path from a node to itself, or nil.
func (c *checker) back(from int) []Step {
	type came struct {
		by int
		e  edge
	}
	seen := map[int]came{}
	queue := []int{from}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, e := range c.edges[n] {
			if _, was := seen[e.to]; was {
				continue
			}
			seen[e.to] = came{n, e}
			if e.to != from {
				queue = append(queue, e.to)
				continue
			}
			var steps []Step
			for at := from; ; {
				w := seen[at]
				steps = append([]Step{{c.names[w.by], w.e.why, w.e.key, c.names[at]}}, steps...)
				if at = w.by; at == from {
					return steps
				}
			}
		}
	}
	return nil
}
