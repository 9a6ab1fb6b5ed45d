// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func frame(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

func TestFrames(t *testing.T) {
	tests := []struct {
		name, in string
		bodies   []string
		err      error
	}{
		{"nothing", "", nil, io.EOF},
		{"two", frame("{}") + frame(""), []string{"{}", ""}, io.EOF},
		{"another header", "Content-Type: x\r\ncontent-length: 2\r\n\r\n{}", []string{"{}"}, io.EOF},
		{"bare line ends", "Content-Length: 2\n\n{}", []string{"{}"}, io.EOF},
		{"no length", "A: b\r\n\r\n{}", nil, errHeader},
		{"no colon", "Hello\r\n\r\n", nil, errHeader},
		{"a negative length", "Content-Length: -1\r\n\r\n", nil, errHeader},
		{"no number", "Content-Length: x\r\n\r\n", nil, errHeader},
		{"a number too large", "Content-Length: 99999999999999999999\r\n\r\n", nil, errHeader},
		{"a long line", "A: " + strings.Repeat("b", HeaderBytesMax), nil, errHeader},
		{"many lines", strings.Repeat("A: b\r\n", HeaderLinesMax+1), nil, errHeader},
		{"an end in the header", "Content-Le", nil, io.ErrUnexpectedEOF},
		{"an end in the body", "Content-Length: 3\r\n\r\n{}", nil, io.ErrUnexpectedEOF},
		{"less than is announced", fmt.Sprintf("Content-Length: %d\r\n\r\n{}", MessageBytesMax+1), nil, io.ErrUnexpectedEOF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFrames(strings.NewReader(tt.in))
			for _, want := range tt.bodies {
				got, err := f.next()
				if err != nil || string(got) != want {
					t.Fatalf("got %q, %v, want %q", got, err, want)
				}
			}
			if _, err := f.next(); !errors.Is(err, tt.err) {
				t.Errorf("got %v, want %v", err, tt.err)
			}
		})
	}
}

// client speaks to Serve over pipes.
type client struct {
	t   testing.TB
	to  *io.PipeWriter
	in  *frames
	end chan error
}

func newClient(t testing.TB, files Files) *client {
	r, to := io.Pipe()
	from, w := io.Pipe()
	c := &client{t, to, newFrames(from), make(chan error, 1)}
	go func() {
		err := Serve(context.Background(), r, w, files, nil)
		w.Close()
		r.Close()
		c.end <- err
	}()
	return c
}

func (c *client) send(body string) {
	c.t.Helper()
	if _, err := io.WriteString(c.to, frame(body)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) receive() string {
	c.t.Helper()
	body, err := c.in.next()
	if err != nil {
		c.t.Fatal(err)
	}
	return string(body)
}

// TestServe has a session over pipes: nothing but the stream is left at its end.
func TestServe(t *testing.T) {
	defer goleak.VerifyNone(t)
	c := newClient(t, memory{})
	c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	var hello struct {
		Result struct {
			Capabilities struct{ PositionEncoding string }
		}
	}
	if err := json.Unmarshal([]byte(c.receive()), &hello); err != nil || hello.Result.Capabilities.PositionEncoding != "utf-16" {
		t.Fatalf("got %+v, %v", hello, err)
	}
	c.send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	c.send(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///d/A.tla","version":3,"text":"---- MODULE A ----\nX == (\n====\n"}}}`)
	if got := c.receive(); !strings.Contains(got, "publishDiagnostics") || !strings.Contains(got, `"version":3`) {
		t.Errorf("got %s", got)
	}
	c.send(`no json`)
	if got := c.receive(); !strings.Contains(got, "-32700") {
		t.Errorf("got %s", got)
	}
	c.send(`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`)
	if got, want := c.receive(), `{"jsonrpc":"2.0","id":2,"result":null}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c.send(`{"jsonrpc":"2.0","method":"exit"}`)
	if err := <-c.end; err != nil {
		t.Error(err)
	}
}

// TestServeEnds ends sessions in the other ways.
func TestServeEnds(t *testing.T) {
	tests := []struct {
		name, in string
		want     error
		out      string
	}{
		{"the client is gone", "", io.EOF, ""},
		{"exit at once", frame(`{"jsonrpc":"2.0","method":"exit"}`), ErrExit, ""},
		{"a header that says nothing", "Hello\r\n\r\n", errHeader, "-32700"},
		{"before initialize", frame(`{"jsonrpc":"2.0","id":1,"method":"shutdown"}`), io.EOF, "-32002"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			var out bytes.Buffer
			err := Serve(context.Background(), strings.NewReader(tt.in), &out, memory{}, nil)
			if !errors.Is(err, tt.want) || !strings.Contains(out.String(), tt.out) {
				t.Errorf("got %v, %q, want %v, %q", err, out.String(), tt.want, tt.out)
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, w := io.Pipe()
	defer w.Close()
	if err := Serve(ctx, r, io.Discard, memory{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
}

// TestTooLarge has a message skipped: it is answered, and the next one works.
func TestTooLarge(t *testing.T) {
	in := io.MultiReader(
		strings.NewReader(fmt.Sprintf("Content-Length: %d\r\n\r\n", MessageBytesMax+1)),
		io.LimitReader(spaces{}, MessageBytesMax+1),
		strings.NewReader(frame(`{"jsonrpc":"2.0","id":9,"method":"initialize","params":{}}`)))
	var out bytes.Buffer
	if err := Serve(context.Background(), in, &out, memory{}, nil); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if got := out.String(); !strings.Contains(got, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600`) || !strings.Contains(got, `"id":9,"result"`) {
		t.Errorf("got %s", got)
	}
}

type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// FuzzServe feeds a stream: no input may panic, and every answer is JSON.
func FuzzServe(f *testing.F) {
	f.Add([]byte(frame(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`) + frame(`{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///d/A.tla"},"position":{"line":1,"character":0}}}`)))
	f.Add([]byte("Content-Length: 5\n\n[1,2]"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		if err := Serve(context.Background(), bytes.NewReader(in), &out, memory{}, nil); err == nil && len(in) == 0 {
			t.Fatal("no error at the end of the stream")
		}
		answers := newFrames(&out)
		for {
			body, err := answers.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil || !json.Valid(body) {
				t.Fatalf("answer %q: %v", body, err)
			}
		}
	})
}

// FuzzDocuments asks everything about any text.
func FuzzDocuments(f *testing.F) {
	f.Add("A.tla", "---- MODULE A ----\nEXTENDS B\nVARIABLE x\nI == INSTANCE B\nF(a) == LET RECURSIVE g(_) g(y) == g(a) IN g(x) + I!Z\n====", uint32(4), uint32(3), "y")
	f.Add("A.tla", "---- MODULE A ----\n(* --algorithm A { variables x = 1; process (P = 1) { a: x := 2; goto a } } *)\nI == x\n====", uint32(1), uint32(30), "y")
	f.Add("A.tla", "---- MODULE A ----\n(* --mpcal A { mapping macro M { read { yield $variable } write { yield $value } } archetype B(ref x[_]) { l: x[1] := self } variables y = <<1>>; process (P = 1) == instance B(ref y[_]) mapping y[_] via M; } *)\n====", uint32(1), uint32(80), "z")
	f.Add("v.ded", "program v\nfn f(x: u64) -> u64 = x + 1\ncomponent c {\n input q(x: u64)\n sync r(y) <- q(x), y := f(x)\n}\ndeploy { c: 1 }", uint32(3), uint32(7), "s")
	files := memory{"/d/B.tla": "---- MODULE B ----\nZ == 1\n===="}
	f.Fuzz(func(t *testing.T, name, text string, line, character uint32, to string) {
		if name != "A.tla" {
			name = "v.ded"
		}
		c := newSession(files)
		c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri(name), "version": 1, "text": text}})
		doc := map[string]any{"uri": uri(name)}
		at := Position{line, character}
		for c.s.idle() {
		}
		for _, m := range []string{"hover", "definition", "prepareRename", "rename", "documentSymbol", "formatting", "codeAction"} {
			c.request("textDocument/"+m, map[string]any{"textDocument": doc, "position": at, "newName": to})
		}
		c.request("workspace/executeCommand", map[string]any{"command": translateCommand, "arguments": []string{uri(name)}})
		c.notify("textDocument/didChange", map[string]any{"textDocument": doc, "contentChanges": []any{map[string]any{"range": Range{at, Position{}}, "text": to}}})
		for c.s.idle() {
		}
		if c.drain(t) == "nothing\n" {
			t.Error("nothing was answered")
		}
	})
}
