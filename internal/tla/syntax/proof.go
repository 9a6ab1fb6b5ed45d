// SPDX-License-Identifier: Apache-2.0

package syntax

import "strconv"

// Proofs are skipped; the parser only finds their ends. A proof is OBVIOUS,
// OMITTED, a leaf `BY facts DEF names`, or steps <n>... up to the QED of the
// level that began it and the proof of that QED. If the text breaks these
// rules, the proof ends at the next token that can only belong to a module.

// skipProof goes past a proof if one is next.
func (p *parser) skipProof() {
	var levels []int // those whose QED is still to come
	for {
		// The proof of the theorem, of a step or of a QED may start here.
		p.gotWord("PROOF")
		switch t := &p.toks[p.i]; {
		case t.kind == kindStep:
		case t.is(kindWord, "OBVIOUS") || t.is(kindWord, "OMITTED"):
			p.advance()
			if len(levels) == 0 {
				return
			}
		case t.is(kindWord, "BY"):
			p.skipLeaf()
			if len(levels) == 0 {
				return
			}
		case len(levels) == 0:
			return
		}
		if p.toks[p.i].kind != kindStep && !p.skipToStep() {
			return
		}
		level := p.stepLevel(&p.toks[p.i], levels)
		for len(levels) > 0 && levels[len(levels)-1] > level {
			levels = levels[:len(levels)-1]
		}
		if len(levels) == 0 || levels[len(levels)-1] < level {
			levels = append(levels, level)
		}
		p.advance()
		if p.stepIsQED() {
			levels = levels[:len(levels)-1]
		} else if !p.skipToStep() {
			return
		}
	}
}

// stepIsQED goes past the name of a step and its dots, and past QED if the step
// is one.
func (p *parser) stepIsQED() bool {
	for n := 0; n < 4; n++ {
		t := &p.toks[p.i]
		if t.is(kindWord, "QED") {
			p.advance()
			return true
		}
		touching := p.i > 0 && t.start == p.toks[p.i-1].end
		if !touching || t.kind != kindIdent && t.kind != kindNumber && !t.is(kindPunct, ".") && !t.is(kindOp, "..") {
			return false
		}
		p.advance()
	}
	return false
}

// stepLevel is the level of a step: n for <n>, the current level for <*>, and
// one more for <+>.
func (p *parser) stepLevel(t *token, levels []int) int {
	current := 0
	if len(levels) > 0 {
		current = levels[len(levels)-1]
	}
	switch t.text {
	case "*":
		return max(current, 1)
	case "+":
		return current + 1
	}
	n, err := strconv.Atoi(t.text)
	if err != nil {
		return current
	}
	return n
}

// skipToStep goes to the next step's mark or, returning false, to the end of
// the proof.
func (p *parser) skipToStep() bool {
	for ; p.i < len(p.toks)-1; p.advance() {
		t := &p.toks[p.i]
		switch t.kind {
		case kindEnd, kindRule:
			return false
		case kindStep:
			if p.atStep() {
				return true
			}
		case kindWord:
			switch t.text {
			case "THEOREM", "LEMMA", "PROPOSITION", "COROLLARY", "VARIABLES", "CONSTANTS":
				return false
			}
		}
	}
	return false
}

// atStep reports whether the mark that is next starts a step, rather than
// referring to one among the facts of a BY or a USE.
func (p *parser) atStep() bool {
	if p.i == 0 {
		return false
	}
	prev := &p.toks[p.i-1]
	switch prev.kind {
	case kindIdent, kindNumber, kindString, kindRule:
		return true
	case kindWord:
		switch prev.text {
		case "OBVIOUS", "OMITTED", "PROOF", "QED":
			return true
		}
	case kindOp:
		if postfixes[prev.text] != nil || p.i < 2 {
			return true
		}
		// A symbol may be a name after DEF, as in `BY DEF f, **`.
		list := &p.toks[p.i-2]
		return list.is(kindPunct, ",") || list.is(kindWord, "DEF") || list.is(kindWord, "DEFS")
	case kindPunct:
		return prev.text == "." || prev.text == "@" || closesAny(prev.text)
	}
	return false
}

// skipLeaf goes past BY, USE or HIDE and its facts and definitions.
func (p *parser) skipLeaf() {
	p.advance()
	lets := 0
	for ; p.i < len(p.toks)-1; p.advance() {
		t := &p.toks[p.i]
		switch {
		case t.kind == kindEnd || t.kind == kindRule:
			return
		case t.kind == kindStep && p.atStep():
			return
		case t.is(kindWord, "LET"):
			lets++
		case t.is(kindWord, "IN"):
			lets = max(lets-1, 0)
		case t.is(kindWord, "BY") || t.is(kindWord, "OBVIOUS") || t.is(kindWord, "OMITTED") || t.is(kindWord, "QED"):
			return
		case lets == 0 && p.startsUnit(p.i):
			return
		}
	}
}
