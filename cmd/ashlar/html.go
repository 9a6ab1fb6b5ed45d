package main

import (
	_ "embed" // the page
	"encoding/json"
	"fmt"
	"html/template"
	"io"
)

//go:embed page.html
var pageText string

// writePage writes the document as one page that needs nothing else: no
// network, no further files. The data are in it as JSON.
func writePage(w io.Writer, d *document) error {
	data, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("encode the page's data: %w", err)
	}
	page, err := template.New("page").Parse(pageText)
	if err != nil {
		return fmt.Errorf("parse the page: %w", err)
	}
	// json.Marshal writes < > and & as \u escapes, so the data cannot end the
	// script element.
	return page.Execute(w, struct {
		Title, Headline string
		Data            template.JS
	}{d.Spec + ": " + d.Headline, d.Headline, template.JS(data)})
}

// writePageFile writes the page to a file, whole or not at all.
func writePageFile(name string, d *document) error {
	f, err := newOutput(name, 0o644)
	if err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	defer f.cleanup()
	if err := writePage(f, d); err != nil {
		return err
	}
	if err := f.finish(); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
