// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// entity is anything with a name: a definition, a bound name, a label, a
// relation.
type entity struct {
	name string
	// kind describes the entity for the user: "variable", "operator, 2
	// arguments".
	kind string
	// span is the first position that names it, invalid if there is none; whole
	// is its definition.
	span, whole source.Span
	// hidden reports that its text is built into the tool and is not in a file.
	hidden bool
	// global reports that other modules may use it. algorithmic reports that it
	// belongs to an algorithm or its translation.
	global, algorithmic bool
	// label reports that its name is a string at run time.
	label bool
	// restarts reports that it is a label of an archetype whose name determines
	// where the archetype restarts after a crash.
	restarts bool
}

// occurrence is a position at which a name occurs.
type occurrence struct {
	span source.Span
	of   *entity
}

// index maps the names of one text to their meanings.
type index struct {
	file        *source.File
	occurrences []occurrence // by place, one per place
}

// add records that e occurs at span, if span is in the file and contains the
// name.
func (x *index) add(span source.Span, e *entity) {
	if e == nil || span.File != x.file || span.Start >= span.End {
		return
	}
	x.occurrences = append(x.occurrences, occurrence{span, e})
}

// settle sorts the occurrences. If two have the same position, the one added
// first counts.
func (x *index) settle() {
	slices.SortStableFunc(x.occurrences, func(a, b occurrence) int {
		return cmp.Or(cmp.Compare(a.span.Start, b.span.Start), cmp.Compare(a.span.End, b.span.End))
	})
	x.occurrences = slices.CompactFunc(x.occurrences, func(a, b occurrence) bool { return a.span == b.span })
}

// at returns the shortest occurrence that contains the offset. A name that ends
// at the offset counts only if no name continues there.
func (x *index) at(offset int) (occurrence, bool) {
	best, found, inside := occurrence{}, false, false
	for _, o := range x.occurrences {
		if int(o.span.Start) > offset {
			break
		}
		around := int(o.span.End) > offset
		if int(o.span.End) < offset || inside && !around {
			continue
		}
		if !found || around && !inside || o.span.End-o.span.Start < best.span.End-best.span.Start {
			best, found, inside = o, true, around
		}
	}
	return best, found
}

// shape describes which occurrences belong to the same entity: it gives, for
// each occurrence, the number of the first one of that entity.
func (x *index) shape() []int {
	first := map[*entity]int{}
	out := make([]int, len(x.occurrences))
	for i, o := range x.occurrences {
		if _, ok := first[o.of]; !ok {
			first[o.of] = i
		}
		out[i] = first[o.of]
	}
	return out
}

// definitionLines is the number of lines of a definition, and of the comment
// above it, that are shown.
const definitionLines = 12

// definitionBytesMax limits the text shown if lines are long.
const definitionBytesMax = 4096

// excerpt is the first lines of a definition.
func excerpt(span source.Span) string {
	if !span.IsValid() {
		return ""
	}
	if span.End-span.Start > definitionBytesMax {
		span.End = span.Start + definitionBytesMax
	}
	text := strings.TrimRight(strings.ToValidUTF8(span.Text(), ""), " \t\r\n")
	list := strings.SplitN(text, "\n", definitionLines+1)
	if len(list) > definitionLines {
		list[definitionLines] = "..."
	}
	for i, l := range list {
		list[i] = strings.TrimRight(l, "\r")
	}
	return strings.Join(list, "\n")
}

// commentAbove returns the comment in the lines directly above a position: the
// lines that start with mark, or one TLA+ block comment.
func commentAbove(span source.Span, mark string) string {
	if !span.IsValid() {
		return ""
	}
	line := span.From().Line - 1
	var out []string
	inBlock := false
	for ; line >= 1 && len(out) < definitionLines; line-- {
		text := strings.TrimSpace(span.File.Line(line))
		switch {
		case inBlock:
		case strings.HasPrefix(text, mark):
			out = append(out, strings.TrimPrefix(strings.TrimPrefix(text, mark), " "))
			continue
		case mark == `\*` && len(out) == 0 && strings.HasSuffix(text, "*)"):
			inBlock = true
		default:
			return joinUp(out)
		}
		plain := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(text, "(*"), "*)"), "* ")
		if plain != "" {
			out = append(out, plain)
		}
		if strings.HasPrefix(text, "(*") {
			inBlock = false
			// A boxed comment has a block comment on each line.
			if next := strings.TrimSpace(span.File.Line(max(line-1, 1))); line == 1 || !strings.HasPrefix(next, "(*") || !strings.HasSuffix(next, "*)") {
				return joinUp(out)
			}
			inBlock = true
		}
	}
	return joinUp(out)
}

func joinUp(lines []string) string {
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}

// hasWord reports whether a name occurs in a text as a whole word.
func hasWord(text, name string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(name)
		if (at == 0 || !isWordByte(text[at-1])) && (end == len(text) || !isWordByte(text[end])) {
			return true
		}
		from = at + 1
	}
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
