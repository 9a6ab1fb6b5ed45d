// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// phase is the state of a session.
type phase uint8

const (
	starting phase = iota // before initialize
	running
	stopping // after shutdown
	exited
)

// server is a session with one client. It is a step machine: each message it
// receives produces the messages to send.
type server struct {
	documents
	phase phase
	clean bool // exit came after shutdown
	// dirty are the documents whose diagnostics are out of date, the most
	// recently changed one first.
	dirty []*document
	out   []any
	calls int
}

func newServer(files Files, libraries []string) *server {
	return &server{documents: documents{byURI: map[string]*document{}, byPath: map[string]*document{}, files: files, libraries: libraries}}
}

// ErrExit reports that the client ended the session without a shutdown request.
var ErrExit = errors.New("the client ended the session without a shutdown")

// Serve serves a client until it sends exit, r ends, or ctx ends. The error is
// nil after shutdown and exit; otherwise it is that of r or w, and io.EOF if
// the client just closed the stream. Serve looks for modules beside the
// document and then in the libraries, which are directories. Serve does not
// close r: a pending read of r ends with the next message or with r.
func Serve(ctx context.Context, r io.Reader, w io.Writer, files Files, libraries []string) error {
	type arrival struct {
		body []byte
		err  error
	}
	done := make(chan struct{})
	defer close(done)
	queue := make(chan arrival, QueueMax)
	go func() {
		f := newFrames(r)
		for {
			body, err := f.next()
			select {
			case queue <- arrival{body, err}:
			case <-done:
				return
			}
			if err != nil && !errors.Is(err, errTooLarge) {
				return
			}
		}
	}()
	s := newServer(files, libraries)
	for s.phase != exited {
		var a arrival
		// Compute diagnostics only if no message is waiting: while the user
		// types, only the newest version gets them.
		select {
		case a = <-queue:
		default:
			if !s.idle() {
				select {
				case a = <-queue:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		switch {
		case errors.Is(a.err, errTooLarge):
			s.answer(nobody(), nil, fail(codeInvalidRequest, "%v", a.err))
		case errors.Is(a.err, errHeader):
			s.answer(nobody(), nil, fail(codeParse, "%v", a.err))
			return errors.Join(a.err, s.flush(w))
		case a.err != nil:
			return a.err
		case a.body != nil:
			s.handle(a.body)
		}
		if err := s.flush(w); err != nil {
			return err
		}
	}
	if !s.clean {
		return ErrExit
	}
	return nil
}

func (s *server) flush(w io.Writer) error {
	if len(s.out) == 0 {
		return nil // a write of nothing may block on a pipe
	}
	var b bytes.Buffer
	for _, m := range s.out {
		if err := writeFrame(&b, m); err != nil {
			return err
		}
	}
	s.out = s.out[:0]
	_, err := w.Write(b.Bytes())
	return err
}

// idle publishes the diagnostics of one document whose diagnostics are out of
// date. It reports whether there was such a document.
func (s *server) idle() bool {
	if len(s.dirty) == 0 {
		return false
	}
	d := s.dirty[0]
	s.dirty = s.dirty[1:]
	version := d.version
	s.notify("textDocument/publishDiagnostics", publishParams{d.uri, &version, s.analysis(d).diagnostics})
	return true
}

// touch records that the text of a document has changed.
func (s *server) touch(d *document) {
	s.soil(d)
	s.touchPath(d.path)
	s.dirty = append([]*document{d}, slices.DeleteFunc(s.dirty, func(o *document) bool { return o == d })...)
}

// touchPath schedules a new analysis of all documents that read a path.
func (s *server) touchPath(path string) {
	for _, uri := range s.uris() {
		if d := s.byURI[uri]; d.reads[path] {
			s.soil(d)
		}
	}
}

func (s *server) soil(d *document) {
	d.known = nil
	if !slices.Contains(s.dirty, d) {
		s.dirty = append(s.dirty, d)
	}
}

// uris are those of the open documents, in order.
func (s *server) uris() []string {
	out := make([]string, 0, len(s.byURI))
	for uri := range s.byURI {
		out = append(out, uri)
	}
	slices.Sort(out)
	return out
}

func (s *server) notify(method string, params any) {
	s.out = append(s.out, call{Version: "2.0", Method: method, Params: params})
}

func (s *server) request(method string, params any) {
	s.calls++
	s.out = append(s.out, call{Version: "2.0", ID: "ashlar-" + strconv.Itoa(s.calls), Method: method, Params: params})
}

// answer sends the response to a request. A nil id marks a notification, whose
// failure is shown to the user.
func (s *server) answer(id json.RawMessage, result any, f *failure) {
	switch {
	case id == nil && f == nil:
	case id == nil:
		s.notify("window/logMessage", messageParams{1, f.Message})
	case f != nil:
		s.out = append(s.out, response{Version: "2.0", ID: id, Error: f})
	default:
		body, err := encode(result)
		if err != nil {
			s.out = append(s.out, response{Version: "2.0", ID: id, Error: fail(codeRequestFailed, "%v", err)})
			return
		}
		s.out = append(s.out, response{Version: "2.0", ID: id, Result: body})
	}
}

// handle processes one message and leaves the messages to send in s.out.
func (s *server) handle(body []byte) {
	m, f := parseMessage(body)
	if f != nil {
		s.answer(m.ID, nil, f)
		return
	}
	if m.Method == "" {
		return // the response to a request of this server: the client shows the failure
	}
	if m.Method == "exit" {
		s.clean = s.phase == stopping
		s.phase = exited
		return
	}
	switch {
	case s.phase == starting && m.Method != "initialize":
		if len(m.ID) > 0 {
			s.answer(m.ID, nil, fail(codeNotInitialized, "%s before initialize", m.Method))
		}
		return
	case s.phase == running && m.Method == "initialize" || s.phase == stopping:
		if len(m.ID) > 0 {
			s.answer(m.ID, nil, fail(codeInvalidRequest, "%s at this point of the session", m.Method))
		}
		return
	}
	if len(m.ID) == 0 {
		s.answer(nil, nil, s.notification(m))
		return
	}
	result, f := s.requested(m)
	s.answer(m.ID, result, f)
}

// params reads the parameters of a message.
func params[T any](m *incoming) (T, *failure) {
	var out T
	if len(m.Params) == 0 {
		return out, fail(codeParams, "%s: parameters are missing", m.Method)
	}
	if err := json.Unmarshal(m.Params, &out); err != nil {
		return out, fail(codeParams, "%s: %v", m.Method, err)
	}
	return out, nil
}

func (s *server) notification(m *incoming) *failure {
	switch m.Method {
	case "textDocument/didOpen":
		p, f := params[didOpenParams](m)
		if f != nil {
			return f
		}
		return s.didOpen(p)
	case "textDocument/didChange":
		p, f := params[didChangeParams](m)
		if f != nil {
			return f
		}
		return s.didChange(p)
	case "textDocument/didClose":
		p, f := params[documentParams](m)
		if f != nil {
			return f
		}
		return s.didClose(p.TextDocument.URI)
	case "textDocument/didSave":
		p, f := params[documentParams](m)
		if f != nil {
			return f
		}
		if d := s.byURI[p.TextDocument.URI]; d != nil {
			s.touch(d) // another file may have changed as well
		}
	}
	return nil // the protocol lets a server ignore what it does not know
}

func (s *server) didOpen(p didOpenParams) *failure {
	t := p.TextDocument
	path, err := pathOf(t.URI)
	switch {
	case err != nil:
		return fail(codeParams, "%v", err)
	case len(t.Text) > source.FileBytesMax:
		return fail(codeParams, "%s: larger than %d bytes", t.URI, source.FileBytesMax)
	case s.byURI[t.URI] != nil || s.byPath[path] != nil:
		return fail(codeParams, "%s is open already", t.URI)
	case len(s.byURI) == DocumentsMax:
		return fail(codeParams, "%s: more than %d documents are open", t.URI, DocumentsMax)
	}
	d := &document{uri: t.URI, path: path, language: languageOf(path, t.LanguageID), version: t.Version}
	d.setText([]byte(t.Text))
	s.byURI[d.uri], s.byPath[path] = d, d
	s.touch(d)
	return nil
}

func (s *server) didChange(p didChangeParams) *failure {
	d := s.byURI[p.TextDocument.URI]
	switch {
	case d == nil:
		return fail(codeParams, "%q is not open", p.TextDocument.URI)
	case len(p.ContentChanges) > ChangesMax:
		return fail(codeParams, "more than %d changes at once", ChangesMax)
	}
	d.version = p.TextDocument.Version
	s.touch(d)
	for _, c := range p.ContentChanges {
		if f := d.change(c); f != nil {
			return f
		}
	}
	return nil
}

func (s *server) didClose(uri string) *failure {
	d := s.byURI[uri]
	if d == nil {
		return fail(codeParams, "%q is not open", uri)
	}
	delete(s.byURI, d.uri)
	delete(s.byPath, d.path)
	s.dirty = slices.DeleteFunc(s.dirty, func(o *document) bool { return o == d })
	s.touchPath(d.path)
	s.notify("textDocument/publishDiagnostics", publishParams{URI: uri, Diagnostics: []diagnostic{}})
	return nil
}

func (s *server) requested(m *incoming) (any, *failure) {
	switch m.Method {
	case "initialize":
		s.phase = running
		return initializeResult(), nil
	case "shutdown":
		s.phase = stopping
		return nil, nil
	case "textDocument/hover", "textDocument/definition", "textDocument/prepareRename":
		p, f := params[positionParams](m)
		if f != nil {
			return nil, f
		}
		d, f := s.open(p.TextDocument.URI)
		if f != nil {
			return nil, f
		}
		return s.at(m.Method, d, d.lines.offset(p.Position))
	case "textDocument/rename":
		p, f := params[renameParams](m)
		if f != nil {
			return nil, f
		}
		d, f := s.open(p.TextDocument.URI)
		if f != nil {
			return nil, f
		}
		return s.rename(d, d.lines.offset(p.Position), p.NewName)
	case "workspace/executeCommand":
		p, f := params[commandParams](m)
		if f != nil {
			return nil, f
		}
		return nil, s.execute(p)
	case "textDocument/documentSymbol", "textDocument/formatting", "textDocument/codeAction":
		p, f := params[documentParams](m)
		if f != nil {
			return nil, f
		}
		d, f := s.open(p.TextDocument.URI)
		if f != nil {
			return nil, f
		}
		return s.whole(m.Method, d)
	}
	return nil, fail(codeMethod, "%s is not known", m.Method)
}

func (s *server) open(uri string) (*document, *failure) {
	d := s.byURI[uri]
	if d == nil {
		return nil, fail(codeParams, "%q is not open", uri)
	}
	return d, nil
}
