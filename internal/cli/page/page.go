// SPDX-License-Identifier: Apache-2.0

// Package page writes HTML pages that need nothing else: no network and no further
// files. It has Graphviz draw the pictures in them.
//
// In: the text of a page, with what goes into its places, or a graph in the language
// of Graphviz. Out: a file, there whole or not at all, and a picture. Promised: text
// stays text, whatever is in it. Refused: pictures where Graphviz is not installed.
package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"os/exec"
	"regexp"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/cli/file"
)

// HTML is a part of a page: what a page may hold as it is. A string becomes one by
// Text, a value by Data.
type HTML string

// Text is text as a part of a page: between elements, or in an attribute in quotes.
func Text(s string) HTML { return HTML(html.EscapeString(s)) }

// Data is data for the script of a page. The text cannot end the script element,
// since json.Marshal writes < > and & as \u escapes.
func Data(v any) (HTML, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode the page's data: %w", err)
	}
	return HTML(data), nil
}

var place = regexp.MustCompile(`\{\{[A-Za-z]+\}\}`)

// Write writes a page to a file, with its places, as {{Name}}, filled in. A place for
// which there is nothing is a mistake in the page.
//
// It is not html/template, which looks methods up by name, so that the linker would
// keep every exported method of the program: 2 MB.
func Write(name, page string, fill map[string]HTML) error {
	text := place.ReplaceAllStringFunc(page, func(at string) string {
		part, ok := fill[at[2:len(at)-2]]
		if !ok {
			panic("nothing to fill in for " + at)
		}
		return string(part)
	})
	if err := file.Write(name, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// ErrNoGraphviz reports that nothing can be drawn.
var ErrNoGraphviz = errors.New("drawing needs Graphviz (the program dot), which is not installed")

// Draw has Graphviz make an SVG of a graph in its language.
func Draw(ctx context.Context, dot string) ([]byte, error) {
	path, err := exec.LookPath("dot")
	if err != nil {
		return nil, ErrNoGraphviz
	}
	var complaint strings.Builder
	cmd := exec.CommandContext(ctx, path, "-Tsvg")
	cmd.Stdin, cmd.Stderr = strings.NewReader(dot), &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("draw the graph: %w: %s", err, complaint.String())
	}
	return out, nil
}
