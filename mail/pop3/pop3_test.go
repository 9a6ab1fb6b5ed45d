// SPDX-License-Identifier: Apache-2.0

package pop3_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/mail/mailboat"
	"github.com/ashlar-dev/ashlar/mail/pop3"
)

// store is a Store in memory.
type store struct {
	mu    sync.Mutex
	boxes map[uint64][]mailboat.Message
	locks [2]sync.Mutex
	full  bool // Pickup fails
}

func (s *store) Pickup(user uint64) ([]mailboat.Message, error) {
	s.mu.Lock()
	full := s.full
	s.mu.Unlock()
	if full {
		return nil, errors.New("no memory for it, try again later")
	}
	s.locks[user].Lock()
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.boxes[user]), nil
}

func (s *store) Delete(user uint64, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.boxes[user] = slices.DeleteFunc(s.boxes[user], func(m mailboat.Message) bool { return m.ID == id })
}

func (s *store) Unlock(user uint64) { s.locks[user].Unlock() }

// serve serves a store with these messages on a socket, and returns how to dial it.
func serve(t *testing.T, messages ...string) (*store, func() *client) {
	t.Helper()
	s := &store{boxes: map[uint64][]mailboat.Message{}}
	for i, m := range messages {
		s.boxes[0] = append(s.boxes[0], mailboat.Message{ID: fmt.Sprint("id", i), Contents: []byte(m)})
	}
	login := func(name, password string) (uint64, bool) {
		i := slices.Index([]string{"ann", "bob"}, name)
		return uint64(max(i, 0)), i >= 0 && password == name+"'s secret"
	}
	server := pop3.New(s, pop3.Options{Login: login, Log: slog.New(slog.DiscardHandler)})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wait.Go(func() {
				defer c.Close()
				_ = server.Serve(c) // what it says of clients that misbehave is not looked at
			})
		}
	})
	t.Cleanup(wait.Wait)
	t.Cleanup(func() { l.Close() })
	return s, func() *client {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		c := &client{t: t, conn: conn, text: textproto.NewReader(bufio.NewReader(conn))}
		c.hear("+OK")
		return c
	}
}

type client struct {
	t    *testing.T
	conn net.Conn
	text *textproto.Reader
}

func (c *client) hear(want string) string {
	c.t.Helper()
	line, err := c.text.ReadLine()
	if err != nil || !strings.HasPrefix(line, want) {
		c.t.Fatalf("the server says %q, %v, want %q", line, err, want)
	}
	return line
}

// say sends a line and hears the first of the answer.
func (c *client) say(line, want string) string {
	c.t.Helper()
	if _, err := io.WriteString(c.conn, line+"\r\n"); err != nil {
		c.t.Fatal(err)
	}
	return c.hear(want)
}

// rest hears the rest of an answer of many lines, as it is on the wire.
func (c *client) rest() string {
	c.t.Helper()
	var all strings.Builder
	for {
		line, err := c.text.R.ReadString('\n')
		if err != nil {
			c.t.Fatal(err)
		}
		if line == ".\r\n" {
			return all.String()
		}
		all.WriteString(strings.TrimPrefix(line, "."))
	}
}

func (c *client) login() {
	c.t.Helper()
	c.say("USER ann", "+OK")
	c.say("PASS ann's secret", "+OK")
}

func TestDialogue(t *testing.T) {
	s, dial := serve(t, "Subject: a\r\n\r\none\r\n.two\r\n", "Subject: b\r\n\r\nx\r\ny\r\nz\r\n", "")
	c := dial()
	c.say("CAPA", "+OK")
	if capabilities := c.rest(); !strings.Contains(capabilities, "UIDL\r\n") {
		t.Errorf("CAPA: %q", capabilities)
	}
	c.say("STAT", "-ERR")
	c.say("user ann", "+OK")
	c.say("PASS wrong", "-ERR [AUTH]")
	c.login()
	c.say("STAT", "+OK 3 50")
	c.say("LIST", "+OK")
	if got, want := c.rest(), "1 25\r\n2 23\r\n3 2\r\n"; got != want {
		t.Errorf("LIST: %q, want %q", got, want)
	}
	c.say("LIST 2", "+OK 2 23")
	c.say("UIDL 1", "+OK 1 id0")
	c.say("RETR 1", "+OK")
	if got, want := c.rest(), "Subject: a\r\n\r\none\r\n.two\r\n"; got != want {
		t.Errorf("RETR: %q, want %q", got, want)
	}
	c.say("TOP 2 1", "+OK")
	if got, want := c.rest(), "Subject: b\r\n\r\nx\r\n"; got != want {
		t.Errorf("TOP: %q, want %q", got, want)
	}
	c.say("TOP 2 0", "+OK")
	if got, want := c.rest(), "Subject: b\r\n\r\n"; got != want {
		t.Errorf("TOP: %q, want %q", got, want)
	}
	c.say("DELE 2", "+OK")
	c.say("DELE 2", "-ERR")
	c.say("RETR 2", "-ERR")
	c.say("UIDL", "+OK")
	if got, want := c.rest(), "1 id0\r\n3 id2\r\n"; got != want {
		t.Errorf("UIDL: %q, want %q", got, want)
	}
	c.say("STAT", "+OK 2 27")
	c.say("RSET", "+OK")
	c.say("STAT", "+OK 3 50")
	c.say("DELE 1", "+OK")
	c.say("DELE 3", "+OK")
	for _, wrong := range []string{"RETR", "RETR 0", "RETR 4", "RETR -1", "RETR x", "TOP 1", "TOP 1 x", "XYZ", "", "DELE 99999999999999999999"} {
		c.say(wrong, "-ERR")
	}
	c.say("NOOP", "+OK")
	c.say("QUIT", "+OK 2 messages deleted")
	if _, err := c.text.ReadLine(); err != io.EOF {
		t.Errorf("after QUIT: %v", err)
	}
	if left, err := s.Pickup(0); err != nil || len(left) != 1 || left[0].ID != "id1" {
		t.Errorf("left: %v, %v", left, err)
	}
	s.Unlock(0)
}

// TestPickupFails: a mailbox that cannot be opened now is not taken.
func TestPickupFails(t *testing.T) {
	s, dial := serve(t, "a")
	set := func(full bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.full = full
	}
	set(true)
	c := dial()
	c.say("USER ann", "+OK")
	c.say("PASS ann's secret", "-ERR [SYS/TEMP] no memory for it, try again later")
	c.say("STAT", "-ERR")
	set(false)
	c.say("PASS ann's secret", "+OK 1 messages")
}

// TestDropDeletesNothing: without QUIT nothing goes, and the mailbox is free again.
func TestDropDeletesNothing(t *testing.T) {
	s, dial := serve(t, "a", "b")
	c := dial()
	c.login()
	c.say("DELE 1", "+OK")
	c.conn.Close()
	free := make(chan struct{})
	go func() {
		s.locks[0].Lock()
		close(free)
	}()
	select {
	case <-free:
	case <-time.After(10 * time.Second):
		t.Fatal("the mailbox stays locked")
	}
	if left := s.boxes[0]; len(left) != 2 {
		t.Errorf("left: %v", left)
	}
	s.Unlock(0)
}

func TestOneSessionPerMailbox(t *testing.T) {
	_, dial := serve(t, "a")
	first, second, other := dial(), dial(), dial()
	first.login()
	second.say("USER ann", "+OK")
	second.say("PASS ann's secret", "-ERR [IN-USE]")
	other.say("USER bob", "+OK")
	other.say("PASS bob's secret", "+OK 0 messages")
	other.say("LIST", "+OK")
	if got := other.rest(); got != "" {
		t.Errorf("LIST of nothing: %q", got)
	}
	first.say("QUIT", "+OK")
	second.say("PASS ann's secret", "+OK 1 messages")
}

func TestGuessingEnds(t *testing.T) {
	_, dial := serve(t)
	c := dial()
	c.say("USER ann", "+OK")
	c.say("PASS a", "-ERR")
	c.say("PASS b", "-ERR")
	c.say("PASS c", "-ERR [AUTH] too many failed logins")
	if _, err := c.text.ReadLine(); err != io.EOF {
		t.Errorf("after three wrong passwords: %v", err)
	}
}

func TestLongLineEndsTheSession(t *testing.T) {
	_, dial := serve(t)
	c := dial()
	c.say(strings.Repeat("x", 511), "-ERR line too long")
	if line, err := c.text.ReadLine(); err == nil {
		t.Errorf("after a long line: %q", line)
	}
	c = dial()
	c.say("NOOP "+strings.Repeat("x", 505), "+OK") // the longest
}

// pipe is a connection without a network: what is written is kept.
type pipe struct {
	io.Reader
	bytes.Buffer
}

func (p *pipe) Read(b []byte) (int, error) { return p.Reader.Read(b) }

// TestRetrieveAnyText: what a client gets is the text with its lines ended as
// lines are, of the length that was told; whatever the text.
func TestRetrieveAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"\r", "\n", "\r\n", ".", "a", "\r\n.\r\n"})).Draw(t, "text"), "")
		s := &store{boxes: map[uint64][]mailboat.Message{0: {{ID: "x", Contents: []byte(text)}}}}
		server := pop3.New(s, pop3.Options{
			Login: func(string, string) (uint64, bool) { return 0, true },
			Log:   slog.New(slog.DiscardHandler),
		})
		p := &pipe{Reader: strings.NewReader("USER x\r\nPASS x\r\nLIST 1\r\nRETR 1\r\nQUIT\r\n")}
		if err := server.Serve(p); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(&p.Buffer)
		var line string
		for i := range 5 {
			line, _ = r.ReadString('\n')
			if !strings.HasPrefix(line, "+OK") {
				t.Fatal(line)
			}
			if i == 3 {
				n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "+OK 1 ")))
				if want := len(asLines(text)); err != nil || n != want {
					t.Fatalf("the size is %d, want %d", n, want)
				}
			}
		}
		var got strings.Builder
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				t.Fatalf("no end: %v after %q", err, got.String())
			}
			if line == ".\r\n" {
				break
			}
			got.WriteString(strings.TrimPrefix(line, "."))
		}
		if got.String() != asLines(text) {
			t.Fatalf("%q came as %q, want %q", text, got.String(), asLines(text))
		}
		if rest, _ := io.ReadAll(r); string(rest) != "+OK 0 messages deleted\r\n" {
			t.Fatalf("after the message: %q", rest)
		}
	})
}

// asLines ends each line of a text with CR LF, the last as well.
func asLines(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
	switch {
	case strings.HasSuffix(s, "\n"):
		return s
	case strings.HasSuffix(s, "\r"):
		return s + "\n"
	}
	return s + "\r\n"
}

// FuzzCommands: whatever a client says, the session ends, and gives back what it took.
func FuzzCommands(f *testing.F) {
	for _, s := range []string{
		"USER x\r\nPASS x\r\nLIST\r\nRETR 1\r\nDELE 1\r\nQUIT\r\n",
		"USER x\nPASS x\nTOP 1 1\nUIDL 1\nRSET\n", "PASS\r\n\r\n \r\nCAPA\r\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, input string) {
		s := &store{boxes: map[uint64][]mailboat.Message{0: {{ID: "x", Contents: []byte("a\n.b\nc")}}}}
		server := pop3.New(s, pop3.Options{
			Login: func(string, string) (uint64, bool) { return 0, true },
			Log:   slog.New(slog.DiscardHandler),
		})
		p := &pipe{Reader: strings.NewReader(input)}
		err := server.Serve(p)
		if !s.locks[0].TryLock() {
			t.Error("the mailbox is locked")
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%v", err)
		}
		if gone := len(s.boxes[0]) == 0; gone && !strings.Contains(strings.ToUpper(input), "QUIT") {
			t.Error("deleted without QUIT")
		}
	})
}
