// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// slowPosition counts as the protocol says, over the whole text.
func slowPosition(text string, offset int) Position {
	text = text[:offset]
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	line := strings.Count(text, "\n")
	last := text[strings.LastIndex(text, "\n")+1:]
	return Position{uint32(line), uint32(len(utf16.Encode([]rune(last))))}
}

func texts() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{"a", "bc", "\t", "\n", "\r\n", "\r", "é", "∧", "😀", " ", "\x00", strings.Repeat("x∧😀", 700)})
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), "") })
}

// TestPositions compares with a count over the text, there and back.
func TestPositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		l := newLines([]byte(text))
		offset := rapid.IntRange(0, len(text)).Draw(t, "offset")
		for !utf8.RuneStart((text + " ")[offset]) || offset > 0 && offset < len(text) && text[offset-1] == '\r' && text[offset] == '\n' {
			offset-- // inside a character, or inside a line end
		}
		p := l.position(offset)
		if want := slowPosition(text, offset); p != want {
			t.Fatalf("position of %d is %v, want %v", offset, p, want)
		}
		if back := l.offset(p); back != offset {
			t.Fatalf("offset of %v is %d, want %d", p, back, offset)
		}
	})
}

func TestPositionsAtTheEdge(t *testing.T) {
	l := newLines([]byte("a😀b\r\nç\rd\n"))
	tests := []struct {
		p    Position
		want int
	}{
		{Position{0, 0}, 0},
		{Position{0, 1}, 1},
		{Position{0, 2}, 1}, // between surrogates: the start of the character
		{Position{0, 3}, 5},
		{Position{0, 4}, 6},
		{Position{0, 5}, 6}, // behind the end of the line: its end
		{Position{0, 1<<32 - 1}, 6},
		{Position{1, 1}, 10},
		{Position{2, 1}, 12},
		{Position{3, 0}, 13},
		{Position{4, 0}, 13},
		{Position{1<<32 - 1, 1<<32 - 1}, 13},
	}
	for _, tt := range tests {
		if got := l.offset(tt.p); got != tt.want {
			t.Errorf("offset of %v: got %d, want %d", tt.p, got, tt.want)
		}
	}
	for offset, want := range map[int]Position{-1: {0, 0}, 7: {0, 4}, 3: {0, 1}, 99: {3, 0}} {
		if got := l.position(offset); got != want {
			t.Errorf("position of %d: got %v, want %v", offset, got, want)
		}
	}
}

// FuzzPositions takes any bytes and positions: what comes back lies in the text.
func FuzzPositions(f *testing.F) {
	f.Add([]byte("a😀\r\n\xff\rb"), uint32(1), uint32(7))
	f.Fuzz(func(t *testing.T, text []byte, line, character uint32) {
		l := newLines(text)
		at := l.offset(Position{line, character})
		if at < 0 || at > len(text) {
			t.Fatalf("offset %d of %d bytes", at, len(text))
		}
		if again := l.offset(l.position(at)); again != at {
			t.Fatalf("offset %d became %d", at, again)
		}
	})
}

// TestChanges applies edits in the client's way, on UTF-16, and in ours.
func TestChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		d := &document{}
		d.setText([]byte(text))
		client := text
		for range rapid.IntRange(1, 5).Draw(t, "changes") {
			l := newLines([]byte(client))
			from := l.offset(l.position(rapid.IntRange(0, len(client)).Draw(t, "from")))
			to := l.offset(l.position(rapid.IntRange(0, len(client)).Draw(t, "to")))
			put := texts().Draw(t, "put")
			if f := d.change(contentChange{&Range{slowPosition(client, from), slowPosition(client, to)}, put}); f != nil {
				t.Fatal(f)
			}
			client = client[:min(from, to)] + put + client[max(from, to):]
			if string(d.text) != client {
				t.Fatalf("got %q, want %q", d.text, client)
			}
		}
	})
}
