// SPDX-License-Identifier: Apache-2.0

package mutant

import (
	"slices"
	"strings"
)

// dedalusStepMutants are mistakes in deciding which steps a Dedalus program allows, in the
// rewriter and in the checker of certificates, and in the comparison of programs.
func dedalusStepMutants() []Mutant {
	wrong := func(room, name, breaks, old, new string) Mutant {
		return Mutant{Name: "dedalus/steps/" + room + "/" + name, Breaks: breaks, Kind: Unsound, In: "internal/dedalus/" + room, Old: old, New: new,
			Packages: []string{"internal/evidence/dedalus/mutants"}, Run: "^TestWrongSteps$"}
	}
	on := func(m Mutant, pkg, run string) Mutant { m.Packages, m.Run = []string{pkg}, run; return m }
	all := []Mutant{
		wrong("analyze", "keys-of-others", "Every machine derives what follows from static relations, whatever its keys.", "if all && key >= 0 && !here {", "if all && key < 0 && !here {"),
		wrong("analyze", "numbers-group", "What index numbers counts as what it groups by.", "return a.Aggregate == logic.Index && a.Term.Kind", "return a.Aggregate == logic.Count && a.Term.Kind"),
		wrong("analyze", "merges-are-passed-on", "A part that reads what merges counts as having no state.", "if rel := merging(r); rel != nil {\n\t\t\tv.block(r, nil, rel.Name+\" merges its facts: two", "if rel := merging(r); rel != nil && r.Kind == logic.Next {\n\t\t\tv.block(r, nil, rel.Name+\" merges its facts: two"),
		wrong("analyze", "first-ticks", "What a node derives when nothing has come yet changes nothing.", "if !driven(r, inputs, e) && (early(r) || !dwindling.body(r)) {", "if !driven(r, inputs, e) && (early(r) && rel.Merges() || !dwindling.body(r)) {"),
		wrong("analyze", "forgotten-in-idle-ticks", "What a table forgets because of other state is not missed.", "x.old[rel], x.why[rel] = true, forgets", "x.why[rel] = forgets"),
		wrong("analyze", "older-than-a-tick", "What is older than a tick may meet what follows from a later message.", "if old[b.Atom.Relation] {\n\t\t\t\tamong = caused", "if old[b.Atom.Relation] && whole {\n\t\t\t\tamong = caused"),
		wrong("analyze", "constants-as-they-are-written", "Constants of two types are equal if they are written alike.", `n.leaf("'"+string(t.Value.AppendKey(nil)), "'"+t.Value.String())`, `n.leaf("'"+t.Value.String(), "'"+t.Value.String())`),
		wrong("analyze", "static-relations-are-functions", "A static relation is the function that is called as it is.", `return "static " + r.Name`, `return r.Name`),
		wrong("certificate", "keys-of-others", "A claim passes by which every machine derives what follows from static relations.", "if key != \"\" && !here {", "if key == \"\" && !here {"),
		wrong("certificate", "numbers-group", "A claim passes by which what index numbers is a group.", "x != \"\" && !numbered[x] && within", "x != \"\" && within"),
		wrong("certificate", "merges-are-passed-on", "A claim passes by which what merges is passed on.", "if l.Atom != nil && l.Atom.Relation.Merges() {", "if l.Atom != nil && l.Negated && l.Atom.Relation.Merges() {"),
		wrong("certificate", "first-ticks", "A claim passes though a node derives something when nothing has come yet.", "case !woken && (m.fromNothing(r) || !m.lessLater(r, fades)):", "case !woken && !m.lessLater(r, fades):"),
		wrong("certificate", "forgotten-in-idle-ticks", "A claim passes though a table forgets because of other state.", "if !g && !m.asserts(logic.Collected, n) {\n\t\t\t\t\tage[n] = 2", "if !g && !m.asserts(logic.Collected, n) {\n\t\t\t\t\tage[n] = 0"),
		wrong("certificate", "older-than-a-tick", "A claim passes though what is older than a tick meets what follows from a later message.", "touched := now\n\t\tif oldest == 2 {", "touched := now\n\t\tif oldest > 2 {"),
		wrong("certificate", "constants-as-they-are-written", "A claim passes by which constants of two types are one key.", `+ ":" + kind`, `+ kind[:0]`),
		wrong("certificate", "parentheses-of-texts", "A claim passes by which two texts with different parentheses are one key.", `"(", "%28", ")", "%29"`, `"(", "[", ")", "]"`),
		wrong("certificate", "static-relations-are-functions", "A claim passes by which a static relation is the function that is called as it is.", `"static " + r.Name}}`, `r.Name}}`),
		wrong("certificate", "twice-in-one-literal", "A claim passes by which two counts that must be one number are a threshold.", "if times > 1 {", "if times > 2 {"),
		wrong("certificate", "nought-of-one-key", "A claim passes by which there is nothing if there is nothing of one key.", "func(t *logic.Term) bool { return t.Kind != logic.Wildcard })", "func(t *logic.Term) bool { return t.Kind == logic.Const })"),
		on(wrong("certificate", "false-dependencies", "A claim rests on a dependency that the facts contradict.", "if same && row[d.To].Compare(other[d.To]) != 0 {", "if same && row[d.To].Compare(other[d.To]) > 9 {"), "internal/dedalus/rewrite", "TestFalseDependency"),
		on(wrong("lower", "false-dependencies", "Facts may contradict a dependency that is declared of them.", "if other[d.To].Compare(row[d.To]) != 0 {", "if other[d.To].Compare(row[d.To]) > 9 {"), "internal/dedalus/rewrite", "TestFalseDependency"),
		on(wrong("explore", "late-is-wrong", "A message that is late is one that the original never sends.", "if rest && len(a.lines) != len(b.lines) ||", "if len(a.lines) != len(b.lines) ||"), "internal/dedalus/explore", "TestLate"),
		on(wrong("explore", "order-is-not-compared", "Clients may wait for what they receive, and whether it was sent before they asked is not checked.", "order && b.come[j]&^a.come[i] != 0", "order && b.come[j]&^a.come[i] == 1<<63"), "internal/dedalus/explore", "TestOrder"),
		on(wrong("explore", "late-for-ever", "A message that is never sent is late forever.", "if rest && len(a.lines) != len(b.lines) ||", "if false ||"), "internal/dedalus/explore", "TestLate"),
		on(wrong("adversary", "order-is-not-asked-for", "The original may be given what clients ask before it told what they waited for.", "if ok && t.At < g.At && told", "if ok && t.At < 0 && told"), "internal/dedalus/adversary", "TestMistakes"),
	}
	all = append(all, wrong("rewrite", "keys-that-all-are-given", "Every machine derives what follows from an input that all are given, whatever its keys.",
		"w.touches(r) && w.summand(r) == nil", "slices.ContainsFunc(r.Body, w.divides) && w.summand(r) == nil"))
	// Random programs find these by comparison alone, without the checker of certificates.
	drawn := []string{
		"analyze/keys-of-others", "rewrite/keys-that-all-are-given", "analyze/numbers-group", "analyze/merges-are-passed-on", "analyze/first-ticks",
		"analyze/forgotten-in-idle-ticks", "analyze/older-than-a-tick", "analyze/constants-as-they-are-written", "analyze/static-relations-are-functions", "lower/false-dependencies",
	}
	for _, m := range all {
		if slices.Contains(drawn, strings.TrimPrefix(m.Name, "dedalus/steps/")) {
			m = on(m, "internal/evidence/dedalus/drawn", "^TestDrawn$")
			m.Name = strings.Replace(m.Name, "dedalus/steps/", "dedalus/drawn/", 1)
			all = append(all, m)
		}
	}
	return all
}
