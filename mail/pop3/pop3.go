// SPDX-License-Identifier: Apache-2.0

// Package pop3 serves mail from a mail store, by POP3 (RFC 1939, with CAPA of
// RFC 2449).
//
// A session locks the mailbox of its user; a second session for the same user
// is refused meanwhile. Messages that the client marks as deleted are removed
// when it sends QUIT, permanently once QUIT is answered; a session that ends in
// another way removes nothing or, if it ends within QUIT, a part.
//
// There is no TLS: passwords cross the network in clear text.
package pop3

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ashlar-dev/ashlar/mail/mailboat"
)

// Store is a mail store, as mail/mailboat has it.
type Store interface {
	// Pickup waits for the mailbox's lock, takes it, and reads all messages.
	// After an error, which may be temporary, the lock is not held.
	Pickup(user uint64) ([]mailboat.Message, error)
	// Delete requires the lock; the deletion is durable when it returns.
	Delete(user uint64, id string)
	Unlock(user uint64)
}

// Options are the options of a server; all are required.
type Options struct {
	// Login returns the user that may read mail with that name and password.
	Login func(name, password string) (user uint64, ok bool)
	Log   *slog.Logger
}

// Limits of a session.
const (
	lineBytesMax = 512 // of a command, with its end
	loginsMax    = 3   // that fail
)

// Server serves connections. It is safe for concurrent use.
type Server struct {
	store   Store
	options Options

	mu   sync.Mutex
	busy map[uint64]bool // users whose mailbox a session has
}

// New returns a server.
func New(store Store, o Options) *Server {
	return &Server{store: store, options: o, busy: map[uint64]bool{}}
}

// take reserves a mailbox for one session.
func (s *Server) take(user uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[user] {
		return false
	}
	s.busy[user] = true
	return true
}

func (s *Server) giveBack(user uint64) {
	s.store.Unlock(user)
	s.free(user)
}

// free releases a mailbox for other sessions.
func (s *Server) free(user uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, user)
}

// session is one connection.
type session struct {
	server *Server
	in     *bufio.Reader
	out    *bufio.Writer

	name   string // that USER gave
	failed int    // logins
	open   bool   // the mailbox of user is ours
	user   uint64
	mail   []message
}

type message struct {
	mailboat.Message
	size    int // as it is sent, without what dots need
	deleted bool
}

// errQuit ends a session that completed normally.
var errQuit = errors.New("quit")

// Serve serves a connection until the client quits, or reading or writing
// fails. It does not close the connection, which must have its own time limits.
func (s *Server) Serve(conn io.ReadWriter) error {
	x := &session{
		server: s, in: bufio.NewReaderSize(conn, lineBytesMax),
		out: bufio.NewWriter(conn),
	}
	defer x.close()
	err := x.ok("mailboat")
	for err == nil {
		var line string
		if line, err = x.line(); err == nil {
			err = x.command(line)
		}
	}
	if errors.Is(err, errQuit) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// close gives the mailbox back if the session has it.
func (x *session) close() {
	if x.open {
		x.open = false
		x.server.giveBack(x.user)
	}
}

// line reads a command. One that is too long ends the session, because what
// follows could be mistaken for a command.
func (x *session) line() (string, error) {
	b, err := x.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", errors.Join(errors.New("line too long"), x.no("line too long"))
	}
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

func (x *session) ok(format string, args ...any) error {
	return x.answer("+OK "+format, args...)
}

func (x *session) no(format string, args ...any) error {
	return x.answer("-ERR "+format, args...)
}

func (x *session) answer(format string, args ...any) error {
	fmt.Fprintf(x.out, format+"\r\n", args...)
	return x.out.Flush() // has the error of what was written before, too
}

// many sends lines after a first one.
func (x *session) many(first string, lines []string) error {
	fmt.Fprintf(x.out, "+OK %s\r\n", first)
	for _, l := range lines {
		x.out.WriteString(l + "\r\n")
	}
	return x.answer(".")
}

// text sends a text after a first line: its lines, of which the last is ended if
// it is not.
func (x *session) text(first string, text []byte) error {
	fmt.Fprintf(x.out, "+OK %s\r\n", first)
	for more := true; more; {
		var line []byte
		line, text, more = bytes.Cut(text, []byte("\n"))
		if bytes.HasPrefix(line, []byte(".")) {
			x.out.WriteByte('.')
		}
		x.out.Write(bytes.TrimSuffix(line, []byte("\r")))
		x.out.WriteString("\r\n")
		more = more && len(text) > 0
	}
	return x.answer(".")
}

// command executes a line.
func (x *session) command(line string) error {
	verb, arg, _ := strings.Cut(line, " ")
	switch verb = strings.ToUpper(verb); verb {
	case "CAPA":
		return x.many("capabilities", []string{"USER", "TOP", "UIDL", "RESP-CODES", "IMPLEMENTATION mailboat"})
	case "QUIT":
		return x.end()
	case "NOOP":
		return x.ok("")
	}
	if !x.open {
		switch verb {
		case "USER":
			x.name = arg
			return x.ok("send PASS")
		case "PASS":
			return x.login(arg)
		}
		return x.no("send USER and PASS first")
	}
	switch verb {
	case "STAT":
		n, size := x.stat()
		return x.ok("%d %d", n, size)
	case "LIST", "UIDL":
		return x.list(verb, arg)
	case "RETR":
		return x.retrieve(arg, -1)
	case "TOP":
		number, lines, _ := strings.Cut(arg, " ")
		n, err := strconv.ParseUint(lines, 10, 31)
		if err != nil {
			return x.no("TOP needs a message and a number of lines")
		}
		return x.retrieve(number, int(n))
	case "DELE":
		m, err := x.find(arg)
		if m == nil {
			return err
		}
		m.deleted = true
		return x.ok("will be deleted at QUIT")
	case "RSET":
		for i := range x.mail {
			x.mail[i].deleted = false
		}
		return x.ok("no messages will be deleted")
	}
	return x.no("unknown command")
}

// login opens the mailbox of a user. After some failures the client must
// connect again.
func (x *session) login(password string) error {
	user, ok := x.server.options.Login(x.name, password)
	if !ok {
		if x.failed++; x.failed == loginsMax {
			return errors.Join(errors.New("too many failed logins"), x.no("[AUTH] too many failed logins"))
		}
		return x.no("[AUTH] wrong user or password")
	}
	if !x.server.take(user) {
		return x.no("[IN-USE] another session has this mailbox")
	}
	mail, err := x.server.store.Pickup(user)
	if err != nil {
		x.server.free(user)
		x.server.options.Log.Warn("pickup failed", "user", user, "error", err)
		return x.no("[SYS/TEMP] %v", err)
	}
	for _, m := range mail {
		x.mail = append(x.mail, message{Message: m, size: wireSize(m.Contents)})
	}
	x.open, x.user = true, user
	// So that a message has the same number in each session that finds the same.
	slices.SortFunc(x.mail, func(a, b message) int { return cmp.Compare(a.ID, b.ID) })
	n, size := x.stat()
	return x.ok("%d messages of %d bytes", n, size)
}

// wireSize is how long a text is with the line ends that it is sent with.
func wireSize(b []byte) int {
	n := len(b) + bytes.Count(b, []byte("\n")) - bytes.Count(b, []byte("\r\n"))
	switch {
	case bytes.HasSuffix(b, []byte("\n")):
	case bytes.HasSuffix(b, []byte("\r")):
		n++
	default:
		n += 2
	}
	return n
}

// stat counts the messages that are not deleted, and their bytes.
func (x *session) stat() (n, size int) {
	for _, m := range x.mail {
		if !m.deleted {
			n++
			size += m.size
		}
	}
	return n, size
}

// find returns the message of a number, or sends the client an error.
func (x *session) find(number string) (*message, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 31)
	if err != nil || n == 0 || n > uint64(len(x.mail)) || x.mail[n-1].deleted {
		return nil, x.no("no such message")
	}
	return &x.mail[n-1], nil
}

// list is LIST and UIDL, of one message or of all.
func (x *session) list(verb, arg string) error {
	of := func(m message) string {
		if verb == "UIDL" {
			return m.ID
		}
		return strconv.Itoa(m.size)
	}
	if arg != "" {
		m, err := x.find(arg)
		if m == nil {
			return err
		}
		return x.ok("%s %s", strings.TrimSpace(arg), of(*m))
	}
	var lines []string
	for i, m := range x.mail {
		if !m.deleted {
			lines = append(lines, fmt.Sprint(i+1, " ", of(m)))
		}
	}
	n, size := x.stat()
	return x.many(fmt.Sprintf("%d messages of %d bytes", n, size), lines)
}

// retrieve sends a message, or its header and some lines of its body.
func (x *session) retrieve(number string, lines int) error {
	m, err := x.find(number)
	if m == nil {
		return err
	}
	text := m.Contents
	if lines >= 0 {
		text = top(text, lines)
	}
	return x.text(fmt.Sprintf("%d bytes", m.size), text)
}

// top is the header of a message, the empty line, and some lines of the body.
func top(text []byte, lines int) []byte {
	end, body := 0, false
	for end < len(text) {
		if body {
			if lines == 0 {
				break
			}
			lines--
		}
		next := bytes.IndexByte(text[end:], '\n')
		if next < 0 {
			return text
		}
		body = body || len(bytes.TrimRight(text[end:end+next], "\r")) == 0
		end += next + 1
	}
	return text[:end]
}

// end removes the deleted messages and then answers.
func (x *session) end() error {
	n := 0
	if x.open {
		for _, m := range x.mail {
			if m.deleted {
				x.server.store.Delete(x.user, m.ID)
				n++
			}
		}
		x.server.options.Log.Debug("quit", "messages", len(x.mail), "deleted", n)
	}
	x.close()
	return errors.Join(errQuit, x.ok("%d messages deleted", n))
}
