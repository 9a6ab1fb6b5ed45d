// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// language is the language of a document.
type language uint8

const (
	otherLanguage language = iota
	tlaLanguage
	dedLanguage
)

// document is an open document. text and lines change together.
type document struct {
	uri, path string
	language  language
	version   int32
	text      []byte
	lines     *lines
	// reads are the paths that the last analysis read or looked for.
	reads map[string]bool
	// known is the last analysis. It is nil after a change of the document or
	// of a file that the analysis read.
	known *analysis
}

func (d *document) setText(text []byte) {
	d.text, d.lines, d.known = text, newLines(text), nil
}

// change applies one change of the client. The ends of a range may come in any
// order.
func (d *document) change(c contentChange) *failure {
	if c.Range == nil {
		if len(c.Text) > source.FileBytesMax {
			return fail(codeParams, "%s: larger than %d bytes", d.uri, source.FileBytesMax)
		}
		d.setText([]byte(c.Text))
		return nil
	}
	from, to := d.lines.offset(c.Range.Start), d.lines.offset(c.Range.End)
	from, to = min(from, to), max(from, to)
	if len(d.text)-(to-from)+len(c.Text) > source.FileBytesMax {
		return fail(codeParams, "%s: larger than %d bytes", d.uri, source.FileBytesMax)
	}
	d.setText(slices.Concat(d.text[:from], []byte(c.Text), d.text[to:]))
	return nil
}

// documents are the open documents.
type documents struct {
	byURI     map[string]*document
	byPath    map[string]*document
	files     Files
	libraries []string // directories of modules
}

// pathOf returns the path of the file that a URI names.
func pathOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" || strings.ContainsRune(u.Path, 0) {
		return "", fmt.Errorf("%q is not the URI of a file", uri)
	}
	path := u.Path
	if len(path) > 2 && path[0] == '/' && path[2] == ':' {
		path = path[1:] // a drive's letter
	}
	return filepath.Clean(filepath.FromSlash(path)), nil
}

// uriOf returns the URI of a file. If the client has the file open, it is the
// URI that the client used.
func (s *documents) uriOf(path string) string {
	if d := s.byPath[path]; d != nil {
		return d.uri
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}

func languageOf(path, id string) language {
	switch {
	case filepath.Ext(path) == ".tla" || id == "tlaplus" || id == "tla" || id == "pluscal":
		return tlaLanguage
	case filepath.Ext(path) == ".ded" || id == "dedalus":
		return dedLanguage
	}
	return otherLanguage
}

// overlay is the file system as the editor shows it: open documents take
// precedence over files. It records the requested paths.
type overlay struct {
	*documents
	reads map[string]bool
	// instead replaces the text at one path.
	path    string
	instead []byte
}

func (o *overlay) ReadFile(name string) ([]byte, error) {
	name = filepath.Clean(name)
	o.reads[name] = true
	if o.instead != nil && name == o.path {
		return o.instead, nil
	}
	if d := o.byPath[name]; d != nil {
		return d.text, nil
	}
	return o.files.ReadFile(name)
}

// List lists the files of a directory, including open ones that are not saved
// yet.
func (o *overlay) List(dir string) ([]string, error) {
	names, err := o.files.List(dir)
	if err != nil {
		return nil, err
	}
	for path := range o.byPath {
		if filepath.Dir(path) == filepath.Clean(dir) {
			names = append(names, filepath.Base(path))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
