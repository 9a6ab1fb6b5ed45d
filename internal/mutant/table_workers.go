// SPDX-License-Identifier: Apache-2.0

package mutant

// workersMutants are about joining the finds of several workers of a search: a
// state that belongs to none of them makes "verified" false, and one that belongs
// to two is counted twice.
func workersMutants() []Mutant {
	return []Mutant{
		{
			Name: "check/workers/nothing-is-lost", Kind: WrongAnswer, In: "internal/check", Packages: []string{"internal/check"}, Run: "WorkersAgree",
			Breaks: "A chunk keeps what a lower chunk found too.",
			Old:    "return !w.lost.has(w.candidates[i].fp)",
			New:    "return w.lost.mask >= 0",
		},
		{
			Name: "check/workers/marks-run-over", Kind: Unsound, In: "internal/check", Packages: []string{"internal/check"}, Run: "WorkersAgree",
			Breaks: "Where the marks of a segment do not suffice, its chunks have marks that mean settled, or none.",
			Old:    "int(m.top)+chunks <= fpset.PiecesMax+int(fpset.Old)",
			New:    "int(m.top)+chunks <= 2*fpset.PiecesMax",
		},
		{
			Name: "check/workers/alone-finds-again", Kind: WrongAnswer, In: "internal/check", Packages: []string{"internal/check"}, Run: "WorkersAgree",
			Breaks: "A worker that is alone takes what others found in segments before for new.",
			Old:    "return m.top\n",
			New:    "return fpset.Old\n",
		},
		{
			Name: "check/workers/walk-leaves-shards-out", Kind: WrongAnswer, In: "internal/check/fpset", Packages: []string{"internal/check/fpset"}, Run: "Adders",
			Breaks: "The walk that settles everything stops before the end of a worker's shards.",
			Old:    "n < shards*(part+1)/parts; n++ {",
			New:    "n < shards*(part+1)/parts-1; n++ {",
		},
		{
			Name: "check/workers/granted-slots-are-forgotten", Kind: WrongAnswer, In: "internal/check/fpset", Packages: []string{"internal/check/fpset"}, Run: "Adders",
			Breaks: "A table grows although others may still take slots, so that its size depends on the race of the workers.",
			Old:    "s.shard[n].room += int(v / 2)\n\t\t\t\tbreak",
			New:    "break",
		},
		{
			Name: "check/workers/wrong-chunk-loses", Kind: WrongAnswer, In: "internal/check/fpset", Packages: []string{"internal/check/fpset"}, Run: "Adders",
			Breaks: "Who takes a state from a chunk is told the wrong chunk.",
			Old:    "o, was = Lowered, Mark(x)\n",
			New:    "if o, was = Lowered, Mark(x); was > m+1 {\n\t\t\twas--\n\t\t}\n",
		},
	}
}
