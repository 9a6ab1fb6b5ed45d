// SPDX-License-Identifier: Apache-2.0

package tracelog

import "unicode/utf8"

// A scanner reads the lines that a Writer writes, several times faster than
// encoding/json: events without white space and with few kinds of escapes. It
// understands no more than that. Whatever else JSON allows is left to
// encoding/json, which also names what is wrong with a line.
type scanner struct {
	b  []byte
	at int
	ok bool

	known   map[string]string // strings by their text with escapes
	indices []string
}

// The bounds of the strings that a scanner remembers.
const (
	knownMax       = 1 << 13
	knownLengthMax = 256
)

// event reads a line into e, whose slices it uses again. If it returns false,
// the line may be right or wrong, and e is of no use.
func (s *scanner) event(line []byte, e *Event) bool {
	s.b, s.at, s.ok = line, 0, true
	s.indices = s.indices[:0]
	*e = Event{Elements: e.Elements[:0], Vars: e.Vars[:0], Clock: e.Clock[:0]}
	seen := uint(0)
	s.list('{', '}', func() {
		key := s.key()
		bit := uint(1) << s.field(key, e)
		s.ok = s.ok && seen&bit == 0
		seen |= bit
	})
	if len(e.Elements) == 0 {
		e.Elements = nil
	}
	if len(e.Vars) == 0 {
		e.Vars = nil
	}
	return s.ok && s.at == len(line)
}

// field reads the value of a field and returns the number of the field.
func (s *scanner) field(key []byte, e *Event) int {
	switch string(key) {
	case "n":
		e.N = s.number()
		return 0
	case "label":
		e.Label = s.text()
		return 1
	case "next":
		e.Next = s.text()
		return 2
	case "elements":
		s.list('[', ']', func() { e.Elements = append(e.Elements, s.element()) })
		return 3
	case "vars":
		s.list('[', ']', func() {
			var v Var
			s.list('{', '}', func() {
				switch string(s.key()) {
				case "name":
					v.Name = s.once(v.Name)
				case "value":
					v.Value = s.once(v.Value)
				default:
					s.ok = false
				}
			})
			e.Vars = append(e.Vars, v)
		})
		return 4
	case "kept":
		s.word("true")
		e.Kept = true
		return 5
	case "clock":
		s.list('[', ']', func() {
			var t Tick
			s.list('{', '}', func() {
				switch string(s.key()) {
				case "actor":
					t.Actor = s.once(t.Actor)
				case "n":
					s.ok = s.ok && t.N == 0
					t.N = s.number()
				default:
					s.ok = false
				}
			})
			e.Clock = append(e.Clock, t)
		})
		return 6
	case "start":
		e.Start = s.instant()
		return 7
	case "end":
		e.End = s.instant()
		return 8
	case "aborted":
		e.Aborted = s.text()
		return 9
	}
	s.ok = false
	return 10
}

func (s *scanner) element() (out Element) {
	s.list('{', '}', func() {
		switch string(s.key()) {
		case "op":
			out.Op = s.once(out.Op)
		case "name":
			out.Name = s.once(out.Name)
		case "value":
			out.Value = s.once(out.Value)
		case "indices":
			from := len(s.indices)
			s.list('[', ']', func() { s.indices = append(s.indices, s.text()) })
			s.ok = s.ok && out.Indices == nil && len(s.indices) > from
			out.Indices = s.indices[from:len(s.indices):len(s.indices)]
		default:
			s.ok = false
		}
	})
	return out
}

// list reads what is between two brackets, with commas between the items.
func (s *scanner) list(open, end byte, item func()) {
	s.byte(open)
	if s.ok && s.at < len(s.b) && s.b[s.at] == end {
		s.at++
		return
	}
	for s.ok {
		item()
		if !s.ok || s.at >= len(s.b) {
			s.ok = false
			return
		}
		c := s.b[s.at]
		s.at++
		if c == end {
			return
		}
		s.ok = c == ','
	}
}

func (s *scanner) byte(c byte) {
	if !s.ok || s.at >= len(s.b) || s.b[s.at] != c {
		s.ok = false
		return
	}
	s.at++
}

func (s *scanner) word(w string) {
	for i := range len(w) {
		s.byte(w[i])
	}
}

// key reads the name of a field and the colon.
func (s *scanner) key() []byte {
	k := s.raw()
	s.byte(':')
	return k
}

// once reads a string for a field that has none yet.
func (s *scanner) once(have string) string {
	s.ok = s.ok && have == ""
	return s.text()
}

func (s *scanner) number() (n uint64) {
	from := s.at
	for s.at < len(s.b) && s.b[s.at] >= '0' && s.b[s.at] <= '9' {
		n = n*10 + uint64(s.b[s.at]-'0')
		s.at++
	}
	digits := s.at - from
	if digits == 0 || digits > 18 || digits > 1 && s.b[from] == '0' {
		s.ok = false
	}
	return n
}

func (s *scanner) instant() int64 { return int64(s.number()) }

// raw reads a string and returns it as it is written.
func (s *scanner) raw() []byte {
	s.byte('"')
	from := s.at
	for s.ok && s.at < len(s.b) {
		switch c := s.b[s.at]; {
		case c == '"':
			s.at++
			return s.b[from : s.at-1]
		case c == '\\':
			s.at += 2
		case c < ' ' || c >= utf8.RuneSelf:
			s.ok = false
		default:
			s.at++
		}
	}
	s.ok = false
	return nil
}

// text reads a string.
func (s *scanner) text() string {
	raw := s.raw()
	if !s.ok {
		return ""
	}
	if known, ok := s.known[string(raw)]; ok {
		return known
	}
	text, ok := unescape(raw)
	if !ok {
		s.ok = false
		return ""
	}
	if len(raw) <= knownLengthMax {
		if s.known == nil || len(s.known) >= knownMax {
			s.known = map[string]string{}
		}
		s.known[string(raw)] = text
	}
	return text
}

// unescape replaces the escapes that a Writer needs for ASCII text.
func unescape(raw []byte) (string, bool) {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c != '\\' {
			out = append(out, c)
			continue
		}
		i++
		switch {
		case i >= len(raw):
			return "", false
		case raw[i] == '"' || raw[i] == '\\':
			out = append(out, raw[i])
		case raw[i] == 'u' && i+4 < len(raw) && raw[i+1] == '0' && raw[i+2] == '0':
			hi, lo := hexDigit(raw[i+3]), hexDigit(raw[i+4])
			if hi < 0 || lo < 0 || hi > 7 {
				return "", false
			}
			out = append(out, byte(hi<<4|lo))
			i += 4
		default:
			return "", false
		}
	}
	return string(out), true
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}
