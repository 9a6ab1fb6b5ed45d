// SPDX-License-Identifier: Apache-2.0

// Package page writes self-contained HTML pages, which need no network and no
// further files. It runs Graphviz to draw the pictures in them.
//
// In: the text of a page, with the contents of its placeholders, or a graph in the
// language of Graphviz. Out: a file, written atomically, and a picture. Promised:
// text is escaped, whatever it contains. Refused: pictures if Graphviz is not
// installed.
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

// HTML is a fragment that a page may contain unescaped. Text converts a string to
// HTML, Data a value.
type HTML string

// Text escapes text for a page, for use between elements or in a quoted attribute.
func Text(s string) HTML { return HTML(html.EscapeString(s)) }

// Data encodes data for the script of a page. The result cannot end the script
// element, because json.Marshal writes < > and & as \u escapes.
func Data(v any) (HTML, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode the page's data: %w", err)
	}
	return HTML(data), nil
}

var place = regexp.MustCompile(`\{\{[A-Za-z]+\}\}`)

// Write fills in the placeholders of a page, of the form {{Name}}, and writes it to a
// file. A placeholder without a value is a bug in the page.
//
// Write does not use html/template, because that looks up methods by name, so that
// the linker would keep every exported method of the program: 2 MB.
func Write(name, page string, fill map[string]HTML) error {
	text := place.ReplaceAllStringFunc(page, func(at string) string {
		part, ok := fill[at[2:len(at)-2]]
		if !ok {
			panic("no value to fill in for " + at)
		}
		return string(part)
	})
	if err := file.Write(name, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// ErrNoGraphviz reports that Graphviz is not installed.
var ErrNoGraphviz = errors.New("drawing needs Graphviz (the program dot), which is not installed")

// Draw runs Graphviz to convert a graph to SVG.
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
