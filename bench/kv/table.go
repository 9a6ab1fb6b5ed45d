// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"unicode/utf8"
)

// table is rows of text below a head. Short rows end in empty fields.
type table struct {
	title string
	head  []string
	rows  [][]string
}

// render writes the table with its columns in line; the first is set to the
// left, the others to the right.
func (t table) render(b *strings.Builder, markdown bool) {
	width := make([]int, len(t.head))
	all := append([][]string{t.head}, t.rows...)
	for _, row := range all {
		for i, f := range row {
			width[i] = max(width[i], utf8.RuneCountInString(f))
		}
	}
	for n, row := range all {
		var fields []string
		for i := range t.head {
			f := ""
			if i < len(row) {
				f = row[i]
			}
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(f))
			if i == 0 {
				fields = append(fields, f+pad)
			} else {
				fields = append(fields, pad+f)
			}
		}
		if !markdown {
			b.WriteString(strings.TrimRight(strings.Join(fields, "  "), " ") + "\n")
			continue
		}
		b.WriteString("| " + strings.Join(fields, " | ") + " |\n")
		if n == 0 {
			b.WriteString("|" + strings.Repeat("---|", 1) + strings.Repeat("---:|", len(t.head)-1) + "\n")
		}
	}
}
