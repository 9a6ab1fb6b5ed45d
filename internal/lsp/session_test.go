// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// memory is files by path.
type memory map[string]string

func (m memory) ReadFile(name string) ([]byte, error) {
	text, ok := m[name]
	if !ok {
		return nil, fmt.Errorf("open %s: %w", name, fs.ErrNotExist)
	}
	return []byte(text), nil
}

func (m memory) List(dir string) ([]string, error) {
	var out []string
	for name := range m {
		if filepath.Dir(name) == dir {
			out = append(out, filepath.Base(name))
		}
	}
	return out, nil
}

// session drives a server without a stream.
type session struct {
	s   *server
	ids int
}

func newSession(files memory) *session {
	s := &session{s: newServer(files, nil)}
	s.request("initialize", map[string]any{})
	s.s.out = nil
	return s
}

func (c *session) send(m map[string]any) {
	m["jsonrpc"] = "2.0"
	body, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	c.s.handle(body)
}

func (c *session) request(method string, p any) {
	c.ids++
	c.send(map[string]any{"id": c.ids, "method": method, "params": p})
}

func (c *session) notify(method string, p any) {
	c.send(map[string]any{"method": method, "params": p})
}

func uri(file string) string { return "file:///d/" + file }

// drain is all that the server sends, in a form to read.
func (c *session) drain(t testing.TB) string {
	var b strings.Builder
	for _, m := range c.s.out {
		body, err := encode(m)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(readable(t, body))
	}
	c.s.out = nil
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

func readable(t testing.TB, body []byte) string {
	var m struct {
		Method string
		Params struct {
			URI         string
			Version     *int
			Diagnostics []diagnostic
		}
		Result json.RawMessage
	}
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatal(err)
	}
	if m.Method == "textDocument/publishDiagnostics" {
		var b strings.Builder
		version := "no version"
		if m.Params.Version != nil {
			version = fmt.Sprintf("version %d", *m.Params.Version)
		}
		fmt.Fprintf(&b, "diagnostics of %s, %s: %d\n", filepath.Base(m.Params.URI), version, len(m.Params.Diagnostics))
		for _, d := range m.Params.Diagnostics {
			fmt.Fprintf(&b, "  %s severity %d %s %q", place(d.Range), d.Severity, d.Code, d.Message)
			for _, r := range d.Related {
				fmt.Fprintf(&b, " [%s %s %s]", filepath.Base(r.Location.URI), place(r.Location.Range), r.Message)
			}
			b.WriteString("\n")
		}
		return b.String()
	}
	var h hover
	if json.Unmarshal(m.Result, &h) == nil && h.Contents.Value != "" {
		return place(h.Range) + "\n  " + strings.ReplaceAll(h.Contents.Value, "\n\n", "\n") + "\n"
	}
	if edit := []textEdit(nil); json.Unmarshal(m.Result, &edit) == nil && len(edit) == 1 && edit[0].NewText != "" {
		return place(edit[0].Range) + "\n" + edit[0].NewText
	}
	return string(body) + "\n"
}

func place(r Range) string {
	return fmt.Sprintf("%d:%d-%d:%d", r.Start.Line, r.Start.Character, r.End.Line, r.End.Character)
}

// TestSessions runs the dialogues in testdata. Lines count from 1 there, and a
// place is given by a word in a line: at=(3,word).
func TestSessions(t *testing.T) {
	datadriven.Walk(t, "testdata/sessions", func(t *testing.T, path string) {
		files := memory{}
		c := newSession(files)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var file, word, text string
			var line int
			for _, a := range d.CmdArgs {
				switch a.Key {
				case "at":
					if _, err := fmt.Sscan(a.Vals[0], &line); err != nil {
						t.Fatal(err)
					}
					word = a.Vals[1]
				case "to", "text":
					text = a.Vals[0]
				default:
					file = a.Key
				}
			}
			doc := map[string]any{"uri": uri(file)}
			switch d.Cmd {
			case "disk":
				files["/d/"+file] = d.Input + "\n"
				return "ok\n"
			case "open":
				c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri(file), "version": 1, "text": d.Input + "\n"}})
			case "type":
				// The word in the line becomes the text.
				at := c.position(t, file, line, word)
				end := Position{at.Line, at.Character + uint32(len(word))}
				doc["version"] = c.s.byURI[uri(file)].version + 1
				c.notify("textDocument/didChange", map[string]any{"textDocument": doc, "contentChanges": []any{
					map[string]any{"range": Range{at, end}, "text": text}}})
			case "close", "save":
				c.notify("textDocument/did"+strings.ToUpper(d.Cmd[:1])+d.Cmd[1:], map[string]any{"textDocument": doc})
			case "idle":
				for c.s.idle() {
				}
			case "hover", "definition", "prepareRename", "rename":
				c.request("textDocument/"+d.Cmd, map[string]any{"textDocument": doc, "position": c.position(t, file, line, word), "newName": text})
			case "documentSymbol", "formatting", "codeAction":
				c.request("textDocument/"+d.Cmd, map[string]any{"textDocument": doc})
			case "translate":
				c.request("workspace/executeCommand", map[string]any{"command": translateCommand, "arguments": []string{uri(file)}})
			case "raw":
				c.s.handle([]byte(d.Input))
			default:
				t.Fatalf("unknown command %s", d.Cmd)
			}
			return c.drain(t)
		})
	})
}

func (c *session) position(t testing.TB, file string, line int, word string) Position {
	d := c.s.byURI[uri(file)]
	if d == nil || line > len(d.lines.starts) {
		t.Fatalf("%s has no line %d", file, line)
	}
	at := bytes.Index(d.text[d.lines.starts[line-1]:d.lines.end(line-1)], []byte(word))
	if at < 0 {
		t.Fatalf("%s:%d: no %q", file, line, word)
	}
	return d.lines.position(d.lines.starts[line-1] + at)
}
