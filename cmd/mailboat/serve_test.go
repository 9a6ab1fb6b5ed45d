// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/textproto"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// refused says that SMTP answered with this code.
func refused(t *testing.T, what string, err error, code int) {
	t.Helper()
	var e *textproto.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("%s: %v, want code %d", what, err, code)
	}
}

func read(t *testing.T, s *server, user, password string) []string {
	t.Helper()
	r, err := login(s.pop3, user, password)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := r.messages()
	if err == nil {
		err = r.quit()
	}
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestMailGoesThrough(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	s := start(t, dir, "--users", "12", "--message-bytes-max", "5000", "--recipients-max", "3", "--domain", "example.org")
	body := "Subject: hi\n\n.a dot\n\nlast\n"
	if err := send(s.smtp, body, "user0@example.org", "USER11@Example.ORG", "user0@example.org"); err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"user0", "user11@example.org"} {
		if texts := read(t, s, user, "x"); len(texts) != 1 || !strings.HasSuffix(texts[0], "\n"+body) {
			t.Errorf("%s has %q", user, texts)
		}
	}
	for _, nobody := range []string{"user12@example.org", "user00@example.org", "user@example.org", "user1@elsewhere.org", "root@example.org", "user-1@example.org"} {
		refused(t, nobody, send(s.smtp, body, nobody), 550)
	}
	refused(t, "a long message", send(s.smtp, strings.Repeat("x\n", 3000), "user1@example.org"), 552)
	refused(t, "many recipients", send(s.smtp, body, "user0@example.org", "user1@example.org", "user2@example.org", "user3@example.org"), 452)
	if texts := read(t, s, "user1", "x"); len(texts) != 0 {
		t.Errorf("user1 has %q", texts)
	}
	if _, err := login(s.pop3, "user12", "x"); err == nil {
		t.Error("user12 has a mailbox")
	}
}

// TestInterruptedDataIsNoMail: who goes away before the end has sent nothing.
func TestInterruptedDataIsNoMail(t *testing.T) {
	s := start(t, t.TempDir())
	conn, err := net.Dial("tcp", s.smtp)
	if err != nil {
		t.Fatal(err)
	}
	c := textproto.NewConn(conn)
	for _, step := range []struct {
		line string
		code int
	}{{"", 220}, {"EHLO x", 250}, {"MAIL FROM:<a@b>", 250}, {"RCPT TO:<user0@localhost>", 250}, {"DATA", 354}} {
		if step.line != "" {
			if err := c.PrintfLine("%s", step.line); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := c.ReadResponse(step.code); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.PrintfLine("Subject: half"); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if err := send(s.smtp, "Subject: whole\n\n", "user0@localhost"); err != nil {
		t.Fatal(err)
	}
	if texts := read(t, s, "user0", ""); len(texts) != 1 || !strings.Contains(texts[0], "whole") {
		t.Errorf("user0 has %q", texts)
	}
}

func TestPasswords(t *testing.T) {
	dir := t.TempDir()
	var line bytes.Buffer
	cmd := newRootCommand()
	cmd.SetArgs([]string{"password", "user1"})
	cmd.SetIn(strings.NewReader("secret\n"))
	cmd.SetOut(&line)
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(line.String(), "secret") {
		t.Errorf("the line is %q", line.String())
	}
	file := filepath.Join(dir, "passwords")
	if err := os.WriteFile(file, append([]byte("# of the boat\n\n"), line.Bytes()...), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, filepath.Join(dir, "mail"), "--passwords", file)
	read(t, s, "user1", "secret")
	for _, wrong := range [][2]string{{"user1", "Secret"}, {"user1", ""}, {"user0", "secret"}, {"user0", ""}, {"nobody", "secret"}} {
		if _, err := login(s.pop3, wrong[0], wrong[1]); err == nil {
			t.Errorf("%s reads mail with password %q", wrong[0], wrong[1])
		}
	}
	for _, bad := range []string{"user1", "user1:00:00", "userx" + line.String()[5:], line.String() + line.String(), "user1:zz" + line.String()[5:]} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		u := users{count: 10, domain: "localhost"}
		if err := u.readPasswords(file); err == nil || !strings.HasPrefix(err.Error(), file+":") {
			t.Errorf("passwords %q: %v", bad, err)
		}
	}
}

func TestVersion(t *testing.T) {
	var out strings.Builder
	cmd := newRootCommand()
	cmd.SetArgs([]string{"--version"})
	cmd.SetOut(&out)
	if err := cmd.ExecuteContext(t.Context()); err != nil || !strings.Contains(out.String(), runtime.Version()) {
		t.Errorf("--version says %q, %v", out.String(), err)
	}
}

func TestWrongCommandLines(t *testing.T) {
	for _, args := range [][]string{
		{"serve"}, {"serve", "x", "y"}, {"serve", "x", "--users", "0"}, {"serve", "x", "--users", "1000000"},
		{"serve", "x", "--pop3", "0.0.0.0:0"}, {"serve", "x", "--pop3", ":0"}, {"serve", "x", "--pop3", "nonsense"},
		{"serve", "x", "--idle", "0s"}, {"serve", "x", "--connections-max", "0"}, {"serve", "x", "--passwords", "none"}, {"password"}, {"sail"},
	} {
		cmd := newRootCommand()
		for i := range args {
			if args[i] == "x" {
				args[i] = filepath.Join(t.TempDir(), "x")
			}
		}
		cmd.SetArgs(args)
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if err := cmd.ExecuteContext(ctx); err == nil {
			t.Errorf("%q is taken", args)
		}
		cancel()
	}
}

// TestStopWaits: a session that has begun is finished, new ones are not taken,
// and the next server finds what was delivered.
func TestStopWaits(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, "--grace", "20s")
	for range 2 {
		if err := send(s.smtp, "Subject: a\n\n", "user0@localhost"); err != nil {
			t.Fatal(err)
		}
	}
	r, err := login(s.pop3, "user0", "")
	if err != nil {
		t.Fatal(err)
	}
	s.Signal(syscall.SIGTERM)
	for closed := false; !closed; {
		conn, err := net.DialTimeout("tcp", s.pop3, ioMax)
		if closed = err != nil; !closed {
			conn.Close()
			time.Sleep(time.Millisecond)
		}
	}
	if err := r.quit(0); err != nil {
		t.Errorf("the session that had begun: %v", err)
	}
	if code := s.Wait(); code != 0 {
		t.Errorf("the server ends with exit code %d", code)
	}
	s = start(t, dir)
	if texts := read(t, s, "user0", ""); len(texts) != 1 {
		t.Errorf("user0 has %q", texts)
	}
}

// TestStopDoesNotWaitForEver: who says nothing is cut off.
func TestStopDoesNotWaitForEver(t *testing.T) {
	s := start(t, t.TempDir(), "--grace", "50ms")
	for _, addr := range []string{s.smtp, s.pop3} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := textproto.NewConn(conn).ReadLine(); err != nil {
			t.Fatal(err)
		}
	}
	s.Signal(os.Interrupt)
	if code := s.Wait(); code != 0 {
		t.Errorf("the server ends with exit code %d", code)
	}
}

// TestConnectionsWait: one more than are allowed is served when another ends.
func TestConnectionsWait(t *testing.T) {
	s := start(t, t.TempDir(), "--connections-max", "1", "--users", "2")
	first, err := login(s.pop3, "user0", "")
	if err != nil {
		t.Fatal(err)
	}
	second := make(chan error)
	go func() {
		r, err := login(s.pop3, "user1", "")
		if err == nil {
			err = r.quit()
		}
		second <- err
	}()
	select {
	case err := <-second:
		t.Fatalf("it does not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	if err := first.quit(); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
}

// TestIdleClientsGo: also those that hold a mailbox.
func TestIdleClientsGo(t *testing.T) {
	s := start(t, t.TempDir(), "--idle", "100ms")
	r, err := login(s.pop3, "user0", "")
	if err != nil {
		t.Fatal(err)
	}
	if line, err := r.text.ReadLine(); err != io.EOF {
		t.Errorf("the idle client hears %q, %v", line, err)
	}
	read(t, s, "user0", "") // its mailbox is free
}
