// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"regexp"
)

// sectionHeader matches the line that begins a configuration in the file of a
// module, and sectionEnd the line that ends it.
var (
	sectionHeader = regexp.MustCompile(`(?m)^-{4,}[ \t]*CONFIG[ \t]+(\w+)[ \t]*-{4,}[ \t\r]*$`)
	sectionEnd    = regexp.MustCompile(`(?m)^={4,}[ \t\r]*$`)
)

// Section is the configuration that is in the file of a module after it,
// as in the specifications that TLC writes of its traces:
//
//	---- CONFIG M ----
//	INIT _init
//	====
//
// All that is not part of it is blank in the result, so that places stay as
// they are. It is nil where there is none for the module.
func Section(text []byte, module string) []byte {
	for _, h := range sectionHeader.FindAllSubmatchIndex(text, -1) {
		if string(text[h[2]:h[3]]) != module {
			continue
		}
		start, end := h[1], len(text)
		if e := sectionEnd.FindIndex(text[start:]); e != nil {
			end = start + e[0]
		}
		out := append(blank(text[:start]), text[start:end]...)
		return append(out, blank(text[end:])...)
	}
	return nil
}

// blank returns as many bytes as text has, all spaces except the line ends.
func blank(text []byte) []byte {
	out := bytes.Repeat([]byte{' '}, len(text))
	for i, c := range text {
		if c == '\n' {
			out[i] = c
		}
	}
	return out
}
