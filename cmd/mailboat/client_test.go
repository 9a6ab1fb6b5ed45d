// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"net"
	"net/smtp"
	"net/textproto"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/evidence/procs"
)

// serverVar has this binary be the server, with these arguments.
const serverVar = "ASHLAR_MAILBOAT_ARGS"

func TestMain(m *testing.M) {
	if args := os.Getenv(serverVar); args != "" {
		os.Args = append(os.Args[:1], strings.Split(args, "\n")...)
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// server is a process of its own.
type server struct {
	*procs.Process
	smtp, pop3 string
}

// start starts a server on any ports, and waits until it listens.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	return startUnder(t, "", args...)
}

// startUnder starts a server after a shell has done something to the process, and
// waits until it listens.
func startUnder(t *testing.T, shell string, args ...string) *server {
	t.Helper()
	p := launch(t, shell, args...)
	fields := strings.Fields(strings.ReplaceAll(p.Await(""), ",", " "))
	return &server{p, fields[2], fields[5]}
}

func launch(t *testing.T, shell string, args ...string) *procs.Process {
	t.Helper()
	args = append([]string{"serve", "--smtp", "127.0.0.1:0", "--pop3", "127.0.0.1:0"}, args...)
	cmd := procs.Self(t, serverVar+"="+strings.Join(args, "\n"))
	if shell != "" {
		under := exec.Command("sh", "-c", shell+` && exec "$0"`, cmd.Path)
		under.Env = cmd.Env
		cmd = under
	}
	return procs.Start(t, cmd)
}

// kill kills the server, as nothing else does.
func (s *server) kill() error {
	s.Kill()
	if status := s.State().String(); status != "signal: killed" {
		return fmt.Errorf("the server ended by itself: %s", status)
	}
	return nil
}

// send sends a message by SMTP, and returns nil once it is acknowledged.
func send(addr, body string, to ...string) error {
	return sendFrom("", addr, body, to...)
}

// dial dials from an address of this machine, "" for any.
func dial(from, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: ioMax}
	if from != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	return d.Dial("tcp", addr)
}

// sendFrom is send from an address of this machine.
func sendFrom(from, addr, body string, to ...string) error {
	conn, err := dial(from, addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(ioMax)); err != nil {
		return err
	}
	c, err := smtp.NewClient(conn, "localhost")
	if err != nil {
		return err
	}
	if err := c.Mail("sender@elsewhere.example"); err != nil {
		return err
	}
	for _, user := range to {
		if err := c.Rcpt(user); err != nil {
			return err
		}
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, body); err != nil {
		return err
	}
	if err := w.Close(); err != nil { // hears the acknowledgement
		return err
	}
	_ = c.Quit() // whatever comes of it, the mail is theirs
	return nil
}

// ioMax is how long a client waits for anything.
const ioMax = 20 * time.Second

// reader is a POP3 client.
type reader struct {
	conn net.Conn
	text *textproto.Conn
}

// busyError says that another session has the mailbox.
type busyError struct{ error }

// login begins a session.
func login(addr, user, password string) (*reader, error) {
	return loginFrom("", addr, user, password)
}

// loginFrom is login from an address of this machine.
func loginFrom(from, addr, user, password string) (*reader, error) {
	conn, err := dial(from, addr)
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Now().Add(ioMax)); err != nil {
		return nil, err
	}
	r := &reader{conn, textproto.NewConn(conn)}
	if _, err = r.hear(); err == nil {
		if _, err = r.say("USER %s", user); err == nil {
			_, err = r.say("PASS %s", password)
		}
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return r, nil
}

func (r *reader) hear() (string, error) {
	line, err := r.text.ReadLine()
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(line, "-ERR [IN-USE]") {
		return "", busyError{fmt.Errorf("%s", line)}
	}
	if !strings.HasPrefix(line, "+OK") {
		return "", fmt.Errorf("the server says %q", line)
	}
	return line, nil
}

func (r *reader) say(format string, args ...any) (string, error) {
	if err := r.text.PrintfLine(format, args...); err != nil {
		return "", err
	}
	return r.hear()
}

// messages reads all.
func (r *reader) messages() ([]string, error) {
	line, err := r.say("STAT")
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.Fields(line)[1])
	if err != nil {
		return nil, err
	}
	var all []string
	for i := range n {
		if _, err := r.say("RETR %d", i+1); err != nil {
			return nil, err
		}
		text, err := r.text.ReadDotBytes()
		if err != nil {
			return nil, err
		}
		all = append(all, string(text))
	}
	return all, nil
}

// quit deletes the messages of these numbers, counted from 0, and ends.
func (r *reader) quit(numbers ...int) error {
	defer r.conn.Close()
	for _, i := range numbers {
		if _, err := r.say("DELE %d", i+1); err != nil {
			return err
		}
	}
	_, err := r.say("QUIT")
	return err
}
