// SPDX-License-Identifier: Apache-2.0

package resp

import (
	"bytes"
	"fmt"
	"strconv"
)

// Limits bound the resources of one connection. The zero Limits are the
// defaults.
type Limits struct {
	// Bulk is the longest argument in bytes, default 512 KiB. Args is the
	// maximum number of arguments of a command, default 8192. Command is the
	// maximum total length of a command's arguments, default 1 MiB.
	Bulk, Args, Command int
	// Inline is the longest line in bytes, default 64 KiB.
	Inline int
	// Pipeline is the maximum number of commands that wait for replies, default
	// 1024. Output bounds the bytes of replies that wait for Take, default 4 MiB.
	// At either limit, the connection begins no more commands.
	Pipeline, Output int
	// Waiting bounds the bytes of commands that wait for replies, default 4 MiB.
	Waiting int
	// Queue is the maximum number of commands in a MULTI, default 1024. Watched
	// is the maximum number of watched keys, default 1024.
	Queue, Watched int
}

func (l Limits) complete() Limits {
	set := func(p *int, v int) {
		if *p == 0 {
			*p = v
		}
	}
	set(&l.Bulk, 512<<10)
	set(&l.Args, 8192)
	set(&l.Command, 1<<20)
	set(&l.Inline, 64<<10)
	set(&l.Pipeline, 1024)
	set(&l.Output, 4<<20)
	set(&l.Waiting, 4<<20)
	set(&l.Queue, 1024)
	set(&l.Watched, 1024)
	return l
}

// parser splits a stream of bytes into commands. It remembers its progress
// within an incomplete command, so that it examines no byte twice.
type parser struct {
	lim   Limits
	buf   []byte
	at    int      // in buf, after the part that was used
	args  [][]byte // of the current command
	left  int      // arguments that are missing
	bulk  int      // length of the next argument, -1 if not known
	size  int
	begun bool
	// complete counts the complete commands.
	complete uint64
}

// held returns the number of bytes of an incomplete command.
func (p *parser) held() int {
	n := len(p.buf) - p.at
	if p.begun {
		n += p.size + len(p.args)*argBytes + 1
	}
	return n
}

// argBytes is about the memory of an argument besides its bytes.
const argBytes = 24

// protocolError is an error of the client that ends the connection.
type protocolError string

func (e protocolError) Error() string { return "Protocol error: " + string(e) }

// feed appends received bytes.
func (p *parser) feed(b []byte) {
	if p.at > 0 && p.at == len(p.buf) {
		if p.buf, p.at = p.buf[:0], 0; cap(p.buf) > 64<<10 {
			p.buf = nil
		}
	} else if p.at > 64<<10 {
		p.buf, p.at = append(p.buf[:0], p.buf[p.at:]...), 0
	}
	p.buf = append(p.buf, b...)
}

// next returns the next command, or nil if it is incomplete. The arguments are
// copies.
func (p *parser) next() ([][]byte, error) {
	for {
		if !p.begun {
			line, ok, err := p.line()
			if !ok || err != nil {
				return nil, err
			}
			if len(line) == 0 {
				continue
			}
			if line[0] != '*' {
				args, err := splitInline(line)
				if err != nil {
					return nil, err
				}
				if len(args) > p.lim.Args {
					return nil, protocolError("too many arguments")
				}
				if len(args) > 0 {
					p.complete++
					return args, nil
				}
				continue
			}
			n, ok := number(line[1:])
			if !ok || n > int64(p.lim.Args) {
				return nil, protocolError(fmt.Sprintf("invalid multibulk length, at most %d", p.lim.Args))
			}
			if n <= 0 {
				continue
			}
			p.begun, p.args, p.left, p.bulk, p.size = true, make([][]byte, 0, min(n, 64)), int(n), -1, 0
		}
		done, err := p.arguments()
		if err != nil || !done {
			return nil, err
		}
		p.begun = false
		args := p.args
		p.args = nil
		p.complete++
		return args, nil
	}
}

// arguments reads as many arguments as have arrived.
func (p *parser) arguments() (done bool, err error) {
	for p.left > 0 {
		if p.bulk < 0 {
			line, ok, err := p.line()
			if !ok || err != nil {
				return false, err
			}
			if len(line) == 0 || line[0] != '$' {
				return false, protocolError(fmt.Sprintf("expected '$', got %q", line[:min(len(line), 1)]))
			}
			n, ok := number(line[1:])
			if !ok || n < 0 || n > int64(p.lim.Bulk) {
				return false, protocolError(fmt.Sprintf("invalid bulk length, at most %d", p.lim.Bulk))
			}
			if p.size += int(n); p.size > p.lim.Command {
				return false, protocolError(fmt.Sprintf("command is longer than %d bytes", p.lim.Command))
			}
			p.bulk = int(n)
		}
		if len(p.buf)-p.at < p.bulk+2 {
			return false, nil
		}
		b := p.buf[p.at : p.at+p.bulk+2]
		if b[p.bulk] != '\r' || b[p.bulk+1] != '\n' {
			return false, protocolError("argument is longer than its stated length")
		}
		p.args = append(p.args, bytes.Clone(b[:p.bulk]))
		p.at += p.bulk + 2
		p.left, p.bulk = p.left-1, -1
	}
	return true, nil
}

// line returns the next line without its terminator.
func (p *parser) line() (line []byte, ok bool, err error) {
	rest := p.buf[p.at:]
	i := bytes.IndexByte(rest[:min(len(rest), p.lim.Inline)], '\n')
	if i < 0 {
		if len(rest) >= p.lim.Inline {
			return nil, false, protocolError(fmt.Sprintf("line is longer than %d bytes", p.lim.Inline))
		}
		return nil, false, nil
	}
	p.at += i + 1
	return bytes.TrimSuffix(rest[:i], []byte{'\r'}), true, nil
}

// number parses a decimal length.
func number(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 20 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	return n, err == nil
}

// splitInline splits a line that a user has typed into words and quoted
// strings. Double-quoted strings may contain the escapes \n, \r, \t, \b, \a and
// \xHH.
func splitInline(line []byte) ([][]byte, error) {
	var args [][]byte
	for i := 0; i < len(line); {
		if line[i] == ' ' || line[i] == '\t' {
			i++
			continue
		}
		var word []byte
		word, n, ok := inlineWord(line[i:])
		if !ok {
			return nil, protocolError("unbalanced quotes in request")
		}
		args = append(args, word)
		i += n
	}
	return args, nil
}

// inlineWord returns the first word of a line, and the number of bytes that it
// takes in the line.
func inlineWord(line []byte) (word []byte, n int, ok bool) {
	word = []byte{}
	quote := byte(0)
	for n < len(line) {
		c := line[n]
		n++
		switch {
		case quote == '"' && c == '\\' && n < len(line):
			c, used := escaped(line[n:])
			word = append(word, c)
			n += used
		case quote == '\'' && c == '\\' && n < len(line) && line[n] == '\'':
			word = append(word, '\'')
			n++
		case quote != 0 && c == quote:
			quote = 0
			if n < len(line) && line[n] != ' ' && line[n] != '\t' {
				return nil, 0, false
			}
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0 && (c == ' ' || c == '\t'):
			return word, n, true
		default:
			word = append(word, c)
		}
	}
	return word, n, quote == 0
}

func escaped(b []byte) (c byte, used int) {
	switch b[0] {
	case 'n':
		return '\n', 1
	case 'r':
		return '\r', 1
	case 't':
		return '\t', 1
	case 'b':
		return '\b', 1
	case 'a':
		return '\a', 1
	case 'x':
		if len(b) >= 3 {
			if v, err := strconv.ParseUint(string(b[1:3]), 16, 8); err == nil {
				return byte(v), 3
			}
		}
	}
	return b[0], 1
}
