// SPDX-License-Identifier: Apache-2.0

// Package learn holds the tutorials. Its tests run them, and the chapters of the book
// of Modular PlusCal: every block marked console, in order, in one shell, with the
// files that the text says to save.
package learn

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// limit bounds a tutorial, commands built from nothing included.
const limit = 8 * time.Minute

// TestTutorials runs each tutorial, the session of the README, and each chapter of the
// book, as a reader would: in the root of the tree. Each keeps to a directory of its
// own under build.
func TestTutorials(t *testing.T) {
	pages, err := filepath.Glob("[0-9]*.md")
	if err != nil || len(pages) < 4 {
		t.Fatalf("found %d tutorials (%v), want at least 4", len(pages), err)
	}
	chapters, err := filepath.Glob("../mpcal/*.md")
	if err != nil || len(chapters) < 10 {
		t.Fatalf("found %d chapters (%v), want at least 10", len(chapters), err)
	}
	pages = append(append(pages, "../../README.md"), chapters...)
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) { play(t, page) })
	}
}

// A step is a command and the output that the page shows below it.
type step struct {
	line    int
	command string
	want    []string
}

// A file is one that the page says to save; before is the number of steps above it.
type file struct {
	name, text string
	before     int
}

func play(t *testing.T, page string) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	steps, files, err := parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) == 0 {
		t.Fatal("the page has no console block")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if scratch := regexp.MustCompile(`mkdir -p (build/_learn/\w+)`).FindStringSubmatch(string(text)); scratch != nil {
		if err := os.RemoveAll(filepath.Join(root, scratch[1])); err != nil {
			t.Fatal(err)
		}
	} else if len(files) > 0 {
		t.Fatal("the page saves files, and makes no directory for them below build/_learn")
	}
	got := run(t, root, script(steps, files))
	for i, s := range steps {
		out, ok := got[i]
		if !ok {
			t.Fatalf("%s:%d: $ %s\nnot reached", page, s.line, s.command)
		}
		if !match(s.want, out) {
			t.Fatalf("%s:%d: $ %s\nprinted:\n%s\nthe page says:\n%s", page, s.line, s.command, strings.Join(out, "\n"), strings.Join(s.want, "\n"))
		}
	}
}

// parse finds the blocks. A block whose info string has a second word is a
// file of that name.
func parse(text string) (steps []step, files []file, err error) {
	var info string // of the block that the line is in
	var body []string
	inside := false
	for i, line := range strings.Split(text, "\n") {
		switch {
		case !inside && strings.HasPrefix(line, "```"):
			inside, info, body = true, strings.TrimPrefix(line, "```"), nil
		case inside && line == "```":
			inside = false
			if _, name, ok := strings.Cut(info, " "); ok {
				files = append(files, file{name: name, text: strings.Join(body, "\n") + "\n", before: len(steps)})
			}
		case inside && info == "console" && strings.HasPrefix(line, "$ "):
			steps = append(steps, step{line: i + 1, command: line[2:]})
		case inside && info == "console":
			if len(steps) == 0 {
				return nil, nil, fmt.Errorf("line %d: output before the first command", i+1)
			}
			last := &steps[len(steps)-1]
			last.want = append(last.want, line)
		case inside:
			body = append(body, line)
		}
	}
	if inside {
		return nil, nil, fmt.Errorf("the last block does not end")
	}
	return steps, files, nil
}

const mark = "@@ step "

// script is all commands for one shell; a line with the mark ends the output of each.
func script(steps []step, files []file) string {
	var b strings.Builder
	for i, s := range steps {
		for _, f := range files {
			if f.before == i {
				fmt.Fprintf(&b, "cat >%s <<'@@END'\n%s@@END\n", f.name, f.text)
			}
		}
		fmt.Fprintf(&b, "%s\ncode=$?; echo; echo '%s%d '$code\n", s.command, mark, i)
	}
	return b.String()
}

// run gives what each command printed, with its exit code as a last line where
// it is not 0. What the shell has started and left running is killed.
func run(t *testing.T, root, script string) map[int][]string {
	cmd := exec.Command("bash", "-s")
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(root, "build")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	cmd.Dir = root
	cmd.Stdin = strings.NewReader(script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	timer := time.AfterFunc(limit, kill)
	err = cmd.Wait()
	if !timer.Stop() {
		t.Errorf("not done after %v", limit)
	}
	kill()
	if err != nil {
		t.Logf("the shell: %v", err)
	}
	if _, err := out.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	got := map[int][]string{}
	var lines []string
	sc := bufio.NewScanner(out)
	for sc.Scan() {
		var n, code int
		if _, err := fmt.Sscanf(sc.Text(), mark+"%d %d", &n, &code); err != nil {
			lines = append(lines, sc.Text())
			continue
		}
		if len(lines) > 0 && lines[len(lines)-1] == "" { // the echo before the mark
			lines = lines[:len(lines)-1]
		}
		if len(lines) > 0 && lines[len(lines)-1] == "" { // it ended a line that was whole
			lines = lines[:len(lines)-1]
		}
		if code != 0 {
			lines = append(lines, fmt.Sprintf("[exit code %d]", code))
		}
		got[n], lines = lines, nil
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	if len(lines) > 0 {
		t.Logf("after the last step:\n%s", strings.Join(lines, "\n"))
	}
	return got
}

// match compares output with what the page shows. A line "..." there stands for
// any number of lines, and "..." within a line for any text.
func match(want, got []string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if want[0] == "..." {
		for i := 0; i <= len(got); i++ {
			if match(want[1:], got[i:]) {
				return true
			}
		}
		return false
	}
	if len(got) == 0 {
		return false
	}
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(strings.TrimRight(want[0], " ")), `\.\.\.`, ".*") + "$"
	return regexp.MustCompile(pattern).MatchString(strings.TrimRight(got[0], " ")) && match(want[1:], got[1:])
}

// TestMatch: what the comparison must accept and refuse.
func TestMatch(t *testing.T) {
	for _, c := range []struct {
		want, got string
		ok        bool
	}{
		{"a|b", "a|b", true},
		{"a", "a|b", false},
		{"a|b", "a", false},
		{"", "a", false},
		{"a|...", "a", true},
		{"a|...|c", "a|x|y|c", true},
		{"a|...|c", "a|x|y", false},
		{"at ... ms", "at 17 ms", true},
		{"at ... ms", "at 17 s", false},
		{"x.y", "xzy", false},
	} {
		var want, got []string
		if c.want != "" {
			want = strings.Split(c.want, "|")
		}
		if c.got != "" {
			got = strings.Split(c.got, "|")
		}
		if match(want, got) != c.ok {
			t.Errorf("match(%q, %q) = %v", c.want, c.got, !c.ok)
		}
	}
}
