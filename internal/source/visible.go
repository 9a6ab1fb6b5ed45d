// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns source text in a form safe for a terminal: control characters
// other than tab and newline, characters that change the direction of writing,
// and invalid UTF-8 become \x1b, \u202e, \xff. Other text is unchanged.
func Visible(s string) string {
	clean := true
	for i, r := range s {
		clean = clean && !hidden(r) && (r != utf8.RuneError || !broken(s[i:]))
	}
	if clean {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case !hidden(r):
			b.WriteRune(r)
		default:
			b.WriteString(escape(r))
		}
		s = s[n:]
	}
	return b.String()
}

// broken reports whether s begins with bytes that are no UTF-8.
func broken(s string) bool {
	_, n := utf8.DecodeRuneInString(s)
	return n == 1
}

// hidden reports whether a terminal would obey a character instead of showing
// it.
func hidden(r rune) bool {
	return unicode.IsControl(r) && r != '\t' && r != '\n' || unicode.Is(unicode.Bidi_Control, r)
}

func escape(r rune) string {
	if r < 0x80 {
		return fmt.Sprintf(`\x%02x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
