// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"strings"
	"unicode/utf8"
)

// lines is a text of one or more lines. Putting a prefix before it moves its
// later lines to the right, so that lists stay aligned.
type lines []string

// line is a text of one line.
func line(s string) lines { return lines{s} }

// after puts prefix before the first line and as many spaces before the others.
func (l lines) after(prefix string) lines {
	if len(l) == 0 {
		return line(prefix)
	}
	pad := strings.Repeat(" ", utf8.RuneCountInString(prefix))
	out := make(lines, len(l))
	for i, s := range l {
		switch {
		case i == 0:
			out[i] = prefix + s
		case s == "":
			out[i] = s
		default:
			out[i] = pad + s
		}
	}
	return out
}

// then appends suffix to the last line.
func (l lines) then(suffix string) lines {
	out := append(lines(nil), l...)
	out[len(out)-1] += suffix
	return out
}

// bullets is a bulleted list of items; a single item needs no bullet.
func bullets(bullet string, items []lines) lines {
	if len(items) == 1 {
		return items[0]
	}
	return allBullets(bullet, items)
}

// allBullets is bullets for a single item too.
func allBullets(bullet string, items []lines) lines {
	var out lines
	for _, it := range items {
		out = append(out, it.after(bullet+" ")...)
	}
	return out
}

func stack(parts ...lines) lines {
	var out lines
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// widthMax is the column at which lists of names are broken.
const widthMax = 78

// wrapped joins words with sep, breaking lines at widthMax when the text
// starts in column; later lines are indented by hang.
func wrapped(words []string, sep string, column, hang int) lines {
	out := lines{""}
	width := column
	for i, w := range words {
		if i < len(words)-1 {
			w += sep
		}
		if out[len(out)-1] != "" && width+1+len(w) > widthMax {
			out = append(out, strings.Repeat(" ", hang)+w)
			width = column + hang + len(w)
			continue
		}
		if out[len(out)-1] != "" {
			w = " " + w
		}
		out[len(out)-1] += w
		width += len(w)
	}
	return out
}

// joined is wrapped for operands: op is before each but the first.
func joined(operands []string, op string, column, hang int) lines {
	words := make([]string, len(operands))
	for i, w := range operands {
		if i > 0 {
			w = op + " " + w
		}
		words[i] = w
	}
	return wrapped(words, "", column, hang)
}

func (l lines) String() string { return strings.Join(l, "\n") }
