// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Strangers attack a server process over raw sockets, and take its disk and its
// descriptors. The judge is an honest client that is served meanwhile, and the
// process, which must not end.

// dripper keeps a connection open, and another after that, each of which sends a
// byte now and then and never ends its line. It says once that it was answered.
func dripper(from, addr string, wait *sync.WaitGroup, over chan struct{}, answered chan<- bool) {
	wait.Go(func() {
		told := false
		for {
			conn, err := dial(from, addr)
			if err == nil {
				first := make([]byte, 1)
				if _, err := io.ReadFull(conn, first); err == nil && !told {
					told = true
					answered <- true
				}
				for err == nil {
					select {
					case <-over:
						conn.Close()
						return
					case <-time.After(50 * time.Millisecond):
						_, err = conn.Write([]byte("N"))
					}
				}
				conn.Close()
			}
			select {
			case <-over:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
}

func TestSlowClientsShutNobodyOut(t *testing.T) {
	const most = 8
	for _, c := range []struct {
		name   string
		from   func(i int) string // the address of an attacker
		honest string
	}{
		{"one address, another is served", func(int) string { return "127.0.0.1" }, "127.0.0.2"},
		{"one address, it is served itself", func(int) string { return "127.0.0.1" }, "127.0.0.1"},
		{"three addresses", func(i int) string { return fmt.Sprint("127.0.0.", 3+i%3) }, "127.0.0.2"},
		{"an address for each", func(i int) string { return fmt.Sprint("127.0.1.", 1+i) }, "127.0.0.2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS != "linux" && c.name != "one address, it is served itself" {
				t.Skip("did not run: only Linux has all of 127.0.0.0/8")
			}
			s := start(t, t.TempDir(), "--users", "2", "--connections-max", fmt.Sprint(most), "--stall", "300ms")
			over := make(chan struct{})
			var wait sync.WaitGroup
			answered := make(chan bool, 4*most)
			for i := range 2 * most {
				dripper(c.from(i), s.smtp, &wait, over, answered)
				dripper(c.from(i), s.pop3, &wait, over, answered)
			}
			for range most { // the attack has begun
				<-answered
			}
			for i := range 3 {
				// A client that is refused tries again, as mail servers do.
				try(t, "send", func() error { return sendFrom(c.honest, s.smtp, letter(uint64(i)), "user0@localhost") })
				try(t, "login", func() error {
					r, err := loginFrom(c.honest, s.pop3, "user0", "x")
					if err != nil {
						return err
					}
					texts, err := r.messages()
					if err == nil && len(texts) < i+1 {
						t.Errorf("%d messages, want %d at least", len(texts), i+1)
					}
					return errors.Join(err, r.quit())
				})
			}
			close(over)
			if err := s.kill(); err != nil {
				t.Error(err)
			}
			wait.Wait()
		})
	}
}

// try tries until it succeeds.
func try(t *testing.T, what string, do func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = do(); err == nil {
			return
		}
	}
	t.Fatalf("%s: the honest client is shut out: %v", what, err)
}

// TestLimitsOfAConnection: whatever a client does, its line and its connection
// come to an end; one that goes on is not ended for being slow.
func TestLimitsOfAConnection(t *testing.T) {
	for _, c := range []struct{ name, flag, say string }{
		{"a line", "--command=500ms", "N"}, {"a session", "--session=500ms", "NOOP\r\n"}, {"silence", "--idle=500ms", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, t.TempDir(), "--users", "2", c.flag)
			for _, addr := range []string{s.smtp, s.pop3} {
				conn, err := net.Dial("tcp", addr)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				ended := make(chan error, 1)
				go func() {
					_, err := io.Copy(io.Discard, conn)
					ended <- err
				}()
				end := time.After(30 * time.Second)
				for done := false; !done; {
					select {
					case <-ended:
						done = true
					case <-end:
						t.Fatalf("%s: the connection does not end", addr)
					case <-time.After(50 * time.Millisecond):
						_, _ = io.WriteString(conn, c.say) // it fails in the end
					}
				}
			}
			if c.flag != "--command=500ms" {
				return
			}
			// Many whole lines take longer together than one may.
			conn, err := net.Dial("tcp", s.pop3)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			text := textproto.NewConn(conn)
			if _, err := text.ReadLine(); err != nil {
				t.Fatal(err)
			}
			for begin := time.Now(); time.Since(begin) < time.Second; time.Sleep(20 * time.Millisecond) {
				if err := text.PrintfLine("NOOP"); err != nil {
					t.Fatal(err)
				}
				if _, err := text.ReadLine(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestFullDisk fills a small file system with mail, and then from outside.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	shell := fmt.Sprintf("mount -t tmpfs -o size=6m tmpfs %s", dir)
	unshare := []string{"--mount"}
	if os.Geteuid() != 0 {
		unshare = append(unshare, "--map-root-user")
	}
	if out, err := exec.Command("unshare", append(unshare, "sh", "-c", shell)...).CombinedOutput(); err != nil {
		t.Skipf("did not run: no small file system here: %v %s", err, out)
	}
	shell = fmt.Sprintf("[ -n \"$ASHLAR_INSIDE\" ] || ASHLAR_INSIDE=1 exec unshare %s sh -c '%s && exec \"$0\"' \"$0\"", strings.Join(unshare, " "), shell)
	s := startUnder(t, shell, dir, "--users", "2", "--space-reserve", "1000000", "--message-bytes-max", "600000")

	body := "Subject: 0\n\n" + strings.Repeat(strings.Repeat("x", 99)+"\n", 5000)
	fill := func() int {
		for n := 0; ; n++ {
			err := send(s.smtp, body, "user0@localhost")
			if err == nil && n < 20 {
				continue
			}
			refused(t, "mail for a full disk", err, 452)
			return n
		}
	}
	taken := fill()
	if taken == 0 {
		t.Fatal("no mail is taken")
	}
	refused(t, "for two", send(s.smtp, body, "user0@localhost", "user1@localhost"), 452)
	// What was acknowledged is there, and reading makes room.
	r, err := login(s.pop3, "user0", "x")
	if err != nil {
		t.Fatal(err)
	}
	texts, err := r.messages()
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) != taken {
		t.Errorf("%d messages, want %d", len(texts), taken)
	}
	for _, text := range texts {
		if !strings.HasSuffix(text, body) {
			t.Error("a message is not whole")
		}
	}
	if err := r.quit(0, 1); err != nil {
		t.Fatal(err)
	}
	if again := fill(); again == 0 || again > 3 {
		t.Errorf("%d messages go where two went", again)
	}
	// Others write to the disk, to its end.
	other, err := os.Create(filepath.Join("/proc", fmt.Sprint(s.PID()), "root", dir, "other"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for err == nil {
		_, err = other.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	refused(t, "a short mail", send(s.smtp, "Subject: 0\n\nx\n", "user1@localhost"), 452)
	if texts := read(t, s, "user0", "x"); len(texts) == 0 {
		t.Error("nothing is left")
	}
	if err := other.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if err := send(s.smtp, "Subject: 0\n\nx\n", "user1@localhost"); err != nil {
		t.Error(err)
	}
	if err := s.kill(); err != nil {
		t.Error(err)
	}
}

// TestFewDescriptors: a server that could run out does not start, and says why;
// one that has just what it wants does not run out.
func TestFewDescriptors(t *testing.T) {
	p := launch(t, "ulimit -n 260", t.TempDir(), "--users", "60")
	if line, ok := p.Next(); ok || p.Wait() != 1 || !strings.Contains(p.Errs(), "the process may open 260 files") {
		t.Fatalf("%q, %v", line, p.State())
	}
	const most = 16
	var want int
	_, _ = fmt.Sscanf(p.Errs()[strings.Index(p.Errs(), "needs "):], "needs %d", &want)
	if want < 2*61+2*64 {
		t.Errorf("it wants %d", want)
	}
	c := config{users: 60, limits: limits{most: most}}
	s := startUnder(t, fmt.Sprintf("ulimit -n %d", c.descriptors()), t.TempDir(), "--users", "60", "--connections-max", fmt.Sprint(most))
	// All places are taken, many more knock, and mail goes on.
	var idle []net.Conn
	defer func() {
		for _, c := range idle {
			c.Close()
		}
	}()
	for i := range 4 * most {
		for _, addr := range []string{s.smtp, s.pop3} {
			conn, err := dial([]string{"127.0.0.1", "127.0.0.3"}[i%2], addr)
			if err != nil && runtime.GOOS == "linux" {
				t.Fatal(err)
			}
			if err == nil {
				idle = append(idle, conn)
			}
		}
	}
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			try(t, "send", func() error {
				return sendFrom("127.0.0.2", s.smtp, letter(uint64(i)), fmt.Sprintf("user%d@localhost", i))
			})
			try(t, "login", func() error {
				r, err := loginFrom("127.0.0.2", s.pop3, fmt.Sprint("user", i), "x")
				if err != nil {
					return err
				}
				return r.quit()
			})
		})
	}
	wait.Wait()
	if err := s.kill(); err != nil {
		t.Error(err)
	}
}

// TestMailboxesAreBounded: a mailbox that is full takes no more, and so can be
// opened; and the mailboxes that are open are bounded together.
func TestMailboxesAreBounded(t *testing.T) {
	s := start(t, t.TempDir(), "--users", "3", "--message-bytes-max", "60000", "--mailbox-bytes-max", "200000", "--sessions-bytes-max", "390000")
	body := "Subject: 0\n\n" + strings.Repeat(strings.Repeat("x", 99)+"\n", 500)
	fill := func(user int) (n int) {
		for ; n < 10; n++ {
			if err := send(s.smtp, body, fmt.Sprintf("user%d@localhost", user)); err != nil {
				refused(t, "mail for a full mailbox", err, 452)
				break
			}
		}
		return n
	}
	if n := fill(0); n != 3 {
		t.Errorf("%d messages are in a mailbox of 200 kB, want 3", n)
	}
	if n := fill(1); n != 3 {
		t.Errorf("%d messages in another, want 3", n)
	}
	first, err := login(s.pop3, "user0", "x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.messages(); err != nil {
		t.Fatal(err)
	}
	// With 150 kB open, 200 may be there, and 390 not be exceeded; with 300 they may.
	second, err := login(s.pop3, "user1", "x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := login(s.pop3, "user2", "x"); err == nil || !strings.Contains(err.Error(), "[SYS/TEMP]") {
		t.Errorf("a third session: %v", err)
	}
	if err := second.quit(); err != nil {
		t.Fatal(err)
	}
	if err := first.quit(1); err != nil {
		t.Fatal(err)
	}
	if n := fill(0); n != 1 {
		t.Errorf("%d messages go where one went", n)
	}
	if texts := read(t, s, "user2", "x"); len(texts) != 0 {
		t.Errorf("user2 has %q", texts)
	}
}
