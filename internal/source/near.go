// SPDX-License-Identifier: Apache-2.0

package source

// Nearest finds the name that is closest to a wrong one.
type Nearest struct {
	want string
	best string
	dist int
}

// nearNameMax is the longest name for which a nearest one is looked for.
const nearNameMax = 64

// NewNearest returns a Nearest for names near want.
func NewNearest(want string) *Nearest {
	n := &Nearest{want: want, dist: 3}
	if len(want) <= 4 {
		n.dist = 2
	}
	if len(want) > nearNameMax || len(want) < 2 {
		n.dist = 0
	}
	return n
}

// Offer considers a name. Of equally close ones the alphabetically first wins,
// so that the order of offers does not matter.
func (n *Nearest) Offer(name string) {
	if name == n.want || len(name) > nearNameMax || !HasLetters(name) {
		return
	}
	limit := n.dist
	if n.best != "" {
		limit++ // an equal distance may still win by the alphabet
	}
	d := distance(n.want, name, limit)
	if d < n.dist || n.best != "" && d == n.dist && name < n.best {
		n.best, n.dist = name, d
	}
}

// HasLetters reports whether there is a letter in s: it is a word and no symbol.
func HasLetters(s string) bool {
	for _, c := range s {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return true
		}
	}
	return false
}

// Repair returns the question whether the nearest name was meant, or "".
func (n *Nearest) Repair() string {
	if n.best == "" {
		return ""
	}
	return "did you mean " + n.best + "?"
}

// distance is the number of letters to insert, delete, replace or exchange with
// the next to turn a into b; a difference in case counts as one for the whole
// name. If the distance is at least limit, it may return limit.
func distance(a, b string, limit int) int {
	if diff := len(a) - len(b); diff >= limit || -diff >= limit {
		return limit
	}
	if equalFold(a, b) {
		return min(1, limit)
	}
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row, next = row, next, before
	}
	return min(row[len(b)], limit)
}

func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		x, y := a[i], b[i]
		if x|0x20 != y|0x20 {
			return false
		}
	}
	return true
}
