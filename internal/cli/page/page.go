// SPDX-License-Identifier: Apache-2.0

// Package page writes HTML pages that need nothing else: no network and no further
// files. It has Graphviz draw the pictures in them.
//
// In: the text of a page, with its data, or a graph in the language of Graphviz. Out:
// a file, there whole or not at all, and a picture. Refused: pictures where Graphviz
// is not installed.
package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"os/exec"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/file"
)

// Write writes the page with the data to a file.
func Write(name, page string, data any) error {
	t, err := template.New("page").Funcs(template.FuncMap{"count": console.Count}).Parse(page)
	if err != nil {
		return fmt.Errorf("parse the page: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return fmt.Errorf("fill in the page: %w", err)
	}
	if err := file.Write(name, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// Data is data for the script of a page. The text cannot end the script element,
// since json.Marshal writes < > and & as \u escapes.
func Data(v any) (template.JS, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode the page's data: %w", err)
	}
	return template.JS(data), nil
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
