// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestLSPClient has a session with the binary over pipes, question by question:
// an open module in front of the one on the disk, and a definition in another
// file.
func TestLSPClient(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "B.tla"), []byte("---- MODULE B ----\nY == 1\n====\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	uri := func(name string) string {
		return (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(dir, name))}).String()
	}
	cmd := exec.Command("ashlar", "lsp")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	send := func(m map[string]any) {
		m["jsonrpc"] = "2.0"
		body, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			t.Fatal(err)
		}
	}
	want := func(parts ...string) {
		t.Helper()
		header, err := textproto.NewReader(r).ReadMIMEHeader()
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			t.Fatal(err)
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(r, body); err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			if !strings.Contains(string(body), p) {
				t.Fatalf("got %s, want %s", body, p)
			}
		}
	}
	type object = map[string]any
	send(object{"id": 1, "method": "initialize", "params": object{"rootUri": nil}})
	want(`"definitionProvider":true`)
	send(object{"method": "initialized", "params": object{}})
	send(object{"method": "textDocument/didOpen", "params": object{"textDocument": object{"uri": uri("A.tla"), "languageId": "tlaplus", "version": 1,
		"text": "---- MODULE A ----\nEXTENDS B\nX == \"😀\" \\in {Y}\n====\n"}}})
	want("publishDiagnostics", `"diagnostics":[]`)
	// The character after two surrogates and their quotes.
	send(object{"id": 2, "method": "textDocument/definition", "params": object{"textDocument": object{"uri": uri("A.tla")}, "position": object{"line": 2, "character": 15}}})
	want(uri("B.tla"), `"start":{"line":1,"character":0}`)
	send(object{"method": "textDocument/didOpen", "params": object{"textDocument": object{"uri": uri("B.tla"), "version": 1, "text": "---- MODULE B ----\n====\n"}}})
	want("publishDiagnostics", uri("B.tla"), `"diagnostics":[]`)
	want("publishDiagnostics", uri("A.tla"), "unknown name Y", `"start":{"line":2,"character":15}`)
	send(object{"id": 3, "method": "shutdown"})
	want(`"id":3,"result":null`)
	send(object{"method": "exit"})
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}
