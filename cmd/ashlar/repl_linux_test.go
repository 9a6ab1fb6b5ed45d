// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pseudoTerminal returns both sides of a terminal: what a person sees and types, and
// what a program has.
func pseudoTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// TestReplIsInterrupted types at a terminal: Ctrl-C ends an evaluation that takes for
// ever, and the list of successors, and does nothing to the session; what was defined
// before is known after.
func TestReplIsInterrupted(t *testing.T) {
	person, program := pseudoTerminal(t)
	cmd := exec.Command(asCommand(t), "repl")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	program.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer cmd.Process.Kill()

	shown := make(chan string)
	go func() {
		defer close(shown)
		for r := bufio.NewReader(person); ; {
			b := make([]byte, 4096)
			n, err := r.Read(b)
			if err != nil {
				return
			}
			shown <- string(b[:n])
		}
	}()
	seen := ""
	await := func(text string) {
		t.Helper()
		late := time.After(endsWithin)
		for !strings.Contains(seen, text) {
			select {
			case more, ok := <-shown:
				if !ok {
					t.Fatalf("the session is over before it shows %q; it has shown %q", text, seen)
				}
				seen += more
			case <-late:
				t.Fatalf("it does not show %q; it has shown %q", text, seen)
			}
		}
		_, seen, _ = strings.Cut(seen, text)
	}
	typed := func(text string) {
		t.Helper()
		if _, err := person.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	long := `\E a, b, c, d, e, f \in 1 .. 900 : a + b + c + d + e + f = 0`

	await("> ")
	typed("Kept == 6 * 7\n")
	await("> ")
	for range 2 {
		before := computed(cmd.Process.Pid)
		typed(long + "\n")
		await("= 0\r\n") // the terminal's echo
		// Ctrl-C also throws away what was typed and not yet read. So it waits until the
		// evaluation runs, which is all that needs the processor now, however long the
		// session took to begin and however slow the machine is.
		for end := time.Now().Add(time.Minute); computed(cmd.Process.Pid) < before+20; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the evaluation does not begin")
			}
		}
		typed("\x03")
		await("the evaluation was stopped")
		await("> ")
		typed("Kept + 1\n")
		await("43\r\n")
		await("> ")
	}
	typed("\x03")
	await(":quit leaves")
	typed("Kept\n")
	await("42\r\n")
	typed(":quit\n")
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("after :quit: %v", err)
		}
	case <-time.After(endsWithin):
		t.Error("it does not end after :quit")
	}
}
