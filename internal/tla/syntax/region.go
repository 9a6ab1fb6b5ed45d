// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// This file searches the raw text for parts that are not in a grammar: the
// module's header in free text, the markers of translations, the heads of
// algorithms and their options.

// findHeader returns the offset of the `---- MODULE` that starts the module,
// -1 when there is none.
func findHeader(text []byte) int {
	for from := 0; ; {
		i := bytes.Index(text[from:], []byte("MODULE"))
		if i < 0 {
			return -1
		}
		at := from + i
		from = at + len("MODULE")
		dash := at
		for dash > 0 && isSpace(text[dash-1]) {
			dash--
		}
		start := dash
		for start > 0 && text[start-1] == '-' {
			start--
		}
		if dash-start >= 4 && (from >= len(text) || !isNameByte(text[from])) && !commentedOut(text, start) {
			return start
		}
	}
}

// commentedOut reports whether a line comment starts before an offset on its line.
func commentedOut(text []byte, at int) bool {
	line := bytes.LastIndexByte(text[:at], '\n') + 1
	return bytes.Contains(text[line:at], []byte(`\*`))
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// markerBytesMax is the maximum distance of the word TRANSLATION from the \* of
// its marker.
const markerBytesMax = 200

// algorithmHeadsMax is the maximum number of possible algorithm starts that are
// recorded.
const algorithmHeadsMax = 64

// findRegions looks for the marker lines of both translations. It reports
// broken pairs and returns nil for them.
func findRegions(f *source.File, errs *source.List) (tla, pcal *Region) {
	var begins, ends [2][]source.Span
	word := []byte("TRANSLATION")
	for from := 0; ; {
		i := bytes.Index(f.Text[from:], word)
		if i < 0 {
			break
		}
		at := from + i
		from = at + len(word)
		if from < len(f.Text) && isNameByte(f.Text[from]) {
			continue
		}
		near := max(at-markerBytesMax, 0)
		line := near + bytes.LastIndexByte(f.Text[near:at], '\n') + 1
		begin, pluscal, start := markerBefore(f.Text[line:at])
		if start < 0 {
			continue
		}
		end := from
		for end < len(f.Text) && f.Text[end] != '\n' && f.Text[end] != '\r' {
			end++
		}
		which := 0
		if pluscal {
			which = 1
		}
		span := source.Span{File: f, Start: int32(line + start), End: int32(end)}
		if begin {
			begins[which] = append(begins[which], span)
		} else {
			ends[which] = append(ends[which], span)
		}
	}
	return pairMarkers(begins[0], ends[0], "TRANSLATION", errs), pairMarkers(begins[1], ends[1], "PLUSCAL TRANSLATION", errs)
}

// markerBefore parses the text before the word TRANSLATION on its line, such as
// `\* BEGIN` or `\* END PLUSCAL`. start is the offset of the `\*`, or -1 if
// this is no marker.
func markerBefore(line []byte) (begin, pluscal bool, start int) {
	start = bytes.LastIndex(line, []byte(`\*`))
	if start < 0 {
		return false, false, -1
	}
	words := bytes.Fields(bytes.TrimLeft(line[start+1:], "*"))
	switch string(bytes.Join(words, []byte(" "))) {
	case "BEGIN":
		return true, false, start
	case "BEGIN PLUSCAL":
		return true, true, start
	case "END":
		return false, false, start
	case "END PLUSCAL":
		return false, true, start
	}
	return false, false, -1
}

// pairMarkers makes a region if there is exactly one begin and one end, in that
// order.
func pairMarkers(begins, ends []source.Span, name string, errs *source.List) *Region {
	if len(begins) == 0 && len(ends) == 0 {
		return nil
	}
	warn := func(span source.Span, message, repair string) *Region {
		errs.Add(source.Diagnostic{Severity: source.Warning, Code: MarkersBroken, Span: span, Message: message, Repair: repair})
		return nil
	}
	switch {
	case len(begins) == 0:
		return warn(ends[0], `expected a line \* BEGIN `+name+" before this one", `add \* BEGIN `+name)
	case len(ends) == 0:
		return warn(begins[0], `expected a line \* END `+name+" after this one", `add \* END `+name)
	case len(begins) > 1:
		return warn(begins[1], "this marker occurs twice: expected it once", "remove the line")
	case len(ends) > 1:
		return warn(ends[1], "this marker occurs twice: expected it once", "remove the line")
	case ends[0].Start < begins[0].Start:
		return warn(ends[0], `expected \* BEGIN `+name+" to stand before this line", "exchange the two lines")
	}
	f := begins[0].File
	from, to := int(begins[0].End), int(ends[0].Start)
	for from < to && f.Text[from] != '\n' {
		from++
	}
	from = min(from+1, to)
	for to > from && f.Text[to-1] != '\n' {
		to--
	}
	return &Region{Begin: begins[0], End: ends[0], Inner: source.Span{File: f, Start: int32(from), End: int32(to)}}
}

// algorithmHeadAt recognises `--algorithm N`, `--fair algorithm N` and
// `--mpcal N` at an offset.
func algorithmHeadAt(text []byte, start int) (algorithmHead, bool) {
	h := algorithmHead{start: start}
	word, at := wordAt(text, start+2)
	if at != start+2+len(word) {
		return h, false // the word must touch the dashes
	}
	switch word {
	case "mpcal":
		h.modular = true
	case "fair":
		h.fair = true
		if word, at = wordAt(text, at); word != "algorithm" {
			return h, false
		}
	case "algorithm":
	default:
		return h, false
	}
	h.after = at
	name, _ := wordAt(text, at)
	return h, name != "" && at < len(text) && isSpace(text[at])
}

// meantAlgorithm matches the start of an apparent algorithm whose first word
// may be misspelled and whose name may be missing.
var meantAlgorithm = regexp.MustCompile(`(?:^|[^-])--(?:fair\s+)?([A-Za-z]+)\b\s*([A-Za-z]\w*)?\s*(?:\{|(?:variables?|define|macro|procedure|process|begin)\s)`)

// warnHead warns of an algorithm that is read as a comment, because its first
// word is misspelled or its name is missing.
func warnHead(f *source.File, errs *source.List) {
	m := meantAlgorithm.FindSubmatchIndex(f.Text)
	if m == nil {
		return
	}
	d := source.Diagnostic{Severity: source.Warning, Code: AlgorithmHead, Span: source.Span{File: f, Start: int32(m[2]), End: int32(m[3])}}
	switch word := string(f.Text[m[2]:m[3]]); {
	case (word == "algorithm" || word == "mpcal") && m[4] < 0:
		d.Message, d.Repair = "this is read as a comment: an algorithm has a name", "write --"+word+" Name"
	case word != "algorithm" && word != "mpcal":
		near := source.NewNearest(strings.ToLower(word))
		near.Offer("algorithm")
		if near.Repair() == "" && strings.ToLower(word) != "pluscal" && word != "Algorithm" {
			return
		}
		d.Message, d.Repair = "this is read as a comment: `--"+word+"` starts no algorithm", "write --algorithm"
	default:
		return
	}
	errs.Add(d)
}

// wordAt returns the word that follows white space at an offset, and where it
// ends.
func wordAt(text []byte, at int) (string, int) {
	for at < len(text) && isSpace(text[at]) {
		at++
	}
	start := at
	for at < len(text) && isNameByte(text[at]) {
		at++
	}
	return string(text[start:at]), at
}

// sectionWords are the words that may follow the name of an algorithm.
var sectionWords = []string{"variable", "variables", "define", "macro", "procedure", "process", "fair", "begin",
	"archetype", "mapping"}

// isAlgorithmStart distinguishes an algorithm from prose that mentions one: after the
// name there must be a brace or a word that starts a section.
func isAlgorithmStart(text []byte, h algorithmHead) bool {
	at := afterName(text, h)
	if at < len(text) && text[at] == '{' {
		return true
	}
	word, _ := wordAt(text, at)
	return slices.Contains(sectionWords, word)
}

// afterName returns the position after the name of an algorithm and after the
// white space and comments that follow it. If nothing follows, it is the end of
// the text.
func afterName(text []byte, h algorithmHead) int {
	_, at := wordAt(text, h.after)
	for at < len(text) {
		switch {
		case isSpace(text[at]):
			at++
		case bytes.HasPrefix(text[at:], []byte(`\*`)):
			for at < len(text) && text[at] != '\n' {
				at++
			}
		case bytes.HasPrefix(text[at:], []byte("(*")):
			end := bytes.Index(text[at:], []byte("*)"))
			if end < 0 {
				return len(text)
			}
			at += end + 2
		default:
			return at
		}
	}
	return at
}

// checkHeads reports algorithm heads that no section follows, because the
// parser then treats the user's algorithm as a comment. Prose also mentions
// algorithms. So it is an error only if the head starts its line or its comment
// and the next word is nearly a section's word; if only one of the two holds,
// it is a warning.
func checkHeads(f *source.File, heads []algorithmHead, errs *source.List) {
	for _, h := range heads {
		text := f.Text[:h.end]
		if isAlgorithmStart(text, h) {
			continue
		}
		line := bytes.LastIndexByte(text[:h.start], '\n') + 1
		first := len(bytes.Trim(text[line:h.start], "(* \t\r\f")) == 0
		at := afterName(text, h)
		word, end := wordAt(text, at)
		near := source.NewNearest(word)
		for _, w := range sectionWords {
			near.Offer(w)
		}
		d := source.Diagnostic{
			Severity: source.Warning, Code: AlgorithmStart,
			Span:    source.Span{File: f, Start: int32(at), End: int32(end)},
			Message: "this algorithm is read as a comment: expected a brace or the first section (such as variables, process or begin) after its name",
			Repair:  near.Repair(),
		}
		if word == "" {
			d.Span = source.Span{File: f, Start: int32(h.start), End: int32(h.after)}
		} else {
			d.Message += ", found `" + word + "`"
		}
		switch {
		case first && d.Repair != "":
			d.Severity = source.Error
		case !first && d.Repair == "":
			continue
		}
		if d.Repair == "" {
			d.Repair = "write { and the body after the name, or, if this is no algorithm, leave out the dashes"
		}
		errs.Add(d)
	}
}

// findHeads looks for algorithms in free text outside the module.
func findHeads(text []byte, from, to int) []algorithmHead {
	var heads []algorithmHead
	for from < to && len(heads) < algorithmHeadsMax {
		i := bytes.Index(text[from:to], []byte("--"))
		if i < 0 {
			break
		}
		at := from + i
		from = at + 2
		if at > 0 && text[at-1] == '-' {
			continue
		}
		if h, ok := algorithmHeadAt(text[:to], at); ok {
			h.end = to
			heads = append(heads, h)
		}
	}
	return heads
}

// findOptions returns the words of `PlusCal options (-wf, label)`. Without
// parentheses only words with a leading dash are options.
func findOptions(f *source.File) []Name {
	var out []Name
	key := []byte("PlusCal")
	for from := 0; ; {
		i := bytes.Index(f.Text[from:], key)
		if i < 0 {
			return out
		}
		from += i + len(key)
		word, at := wordAt(f.Text, from)
		if word != "options" && word != "option" {
			continue
		}
		out = append(out, optionWords(f, at)...)
	}
}

func optionWords(f *source.File, at int) []Name {
	var out []Name
	skip := func(extra byte) {
		for at < len(f.Text) && (isSpace(f.Text[at]) || f.Text[at] == ',' || f.Text[at] == extra) {
			at++
		}
	}
	for at < len(f.Text) && isSpace(f.Text[at]) {
		at++
	}
	open := at < len(f.Text) && f.Text[at] == '('
	if open {
		at++
	}
	for {
		skip(' ')
		dash := at < len(f.Text) && f.Text[at] == '-'
		for at < len(f.Text) && f.Text[at] == '-' {
			at++
		}
		start := at
		for at < len(f.Text) && (isNameByte(f.Text[at]) || f.Text[at] == '.') {
			at++
		}
		if start == at || !open && !dash {
			return out
		}
		name := Name{Text: string(f.Text[start:at])}
		name.at = source.Span{File: f, Start: int32(start), End: int32(at)}
		out = append(out, name)
	}
}
