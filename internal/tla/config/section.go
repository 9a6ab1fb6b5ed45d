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

// Section is the configuration that follows a module in its file, as in the
// specifications that TLC writes for its traces:
//
//	---- CONFIG M ----
//	INIT _init
//	====
//
// Everything else in the file is blank in the result, so that positions do not
// change. The result is nil if the module has no such configuration.
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
