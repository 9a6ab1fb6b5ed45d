// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/evidence/crashtest"
)

// The whole server is killed at random moments while clients send and read mail
// over sockets. What they saw has to be what mailboxes do: a message that was
// acknowledged is there until it is deleted, whole, and once.

const killUsers = 2

// What a life leaves to the next of a mailbox, and what one client deletes at a
// time: where the machine is slow, letters would pile up, and the deletions
// that a kill interrupts would multiply what may be left.
const (
	killLetters   = 50
	killDeletions = 8
)

// mailOp sends the message of a number, begins to read a mailbox, or ends that
// and deletes some messages.
type mailOp struct {
	Name    string // send, open, quit
	User    int
	Numbers []uint64
}

// mailBox has its messages sorted.
type mailBox struct {
	numbers []uint64
	open    bool
}

type mailBoxes [killUsers]mailBox

func (s mailBoxes) with(user int, number uint64) mailBoxes {
	s[user].numbers = append(slices.Clone(s[user].numbers), number)
	slices.Sort(s[user].numbers)
	return s
}

func (s mailBoxes) without(user int, number uint64) (mailBoxes, bool) {
	i := slices.Index(s[user].numbers, number)
	if i >= 0 {
		s[user].numbers = slices.Delete(slices.Clone(s[user].numbers), i, i+1)
	}
	return s, i >= 0
}

func mailSpec() crashtest.Spec[mailBoxes, mailOp, []uint64] {
	return crashtest.Spec[mailBoxes, mailOp, []uint64]{
		Step: func(s mailBoxes, o mailOp, ret *[]uint64) []mailBoxes {
			switch o.Name {
			case "send":
				return []mailBoxes{s.with(o.User, o.Numbers[0])}
			case "open":
				if s[o.User].open || ret != nil && !slices.Equal(*ret, s[o.User].numbers) {
					return nil
				}
				s[o.User].open = true
			case "quit":
				for _, n := range o.Numbers {
					s, _ = s.without(o.User, n)
				}
				s[o.User].open = false
			}
			return []mailBoxes{s}
		},
		// A message that was not acknowledged may go though it was seen. Of those
		// whose deletion was not, the last may stay: they go one by one.
		Crash: func(s mailBoxes, inflight []mailOp) []mailBoxes {
			for u := range s {
				s[u].open = false
			}
			left := []mailBoxes{s}
			for _, o := range inflight {
				for _, x := range left {
					switch o.Name {
					case "send":
						if after, there := x.without(o.User, o.Numbers[0]); there {
							left = append(left, after)
						}
					case "quit":
						for _, n := range slices.Backward(o.Numbers) {
							x = x.with(o.User, n)
							left = append(left, x)
						}
					}
				}
			}
			return left
		},
		Key: func(s mailBoxes) string { return fmt.Sprint(s) },
	}
}

// letter is the message of a number: with lines that begin with dots, and of
// some length.
func letter(number uint64) string {
	line := fmt.Sprintf(".%d.\n", number)
	return fmt.Sprintf("Subject: %d\n\n%s", number, strings.Repeat(line, 1+int(number*7%2000)))
}

// numberOf is whose letter a text is, after the lines that the server puts
// before it.
func numberOf(text string) (uint64, error) {
	_, rest, ok := strings.Cut(text, "Subject: ")
	var number uint64
	if _, err := fmt.Sscanf(rest, "%d\n", &number); !ok || err != nil || "Subject: "+rest != letter(number) || !strings.HasPrefix(text, "Return-Path: <sender@elsewhere.example>\nReceived: ") {
		return 0, fmt.Errorf("a message is not as it was sent: %.300q", text)
	}
	return number, nil
}

// clients are what runs against one life of the server.
type clients struct {
	t       *testing.T
	server  *server
	mu      *sync.Mutex
	events  *[]crashtest.Event[mailOp, []uint64]
	numbers *atomic.Uint64
	over    atomic.Bool // the server is about to be killed, or has been
}

func (c *clients) write(e crashtest.Event[mailOp, []uint64]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.events = append(*c.events, e)
}

// run writes an operation down. One that fails because of the kill has not
// returned, and ends the client.
func (c *clients) run(client int, o mailOp, do func() ([]uint64, error)) ([]uint64, bool) {
	c.write(crashtest.Event[mailOp, []uint64]{Kind: crashtest.Call, Client: client, Op: o})
	ret, err := do()
	if err != nil {
		if !c.over.Load() {
			c.t.Errorf("%+v: %v", o, err)
		}
		return nil, false
	}
	c.write(crashtest.Event[mailOp, []uint64]{Kind: crashtest.Return, Client: client, Ret: ret})
	return ret, true
}

func (c *clients) send(client, user int) bool {
	number := c.numbers.Add(1)
	_, ok := c.run(client, mailOp{"send", user, []uint64{number}}, func() ([]uint64, error) {
		return nil, send(c.server.smtp, letter(number), fmt.Sprintf("user%d@localhost", user))
	})
	return ok
}

// read reads a mailbox and deletes some of it.
func (c *clients) read(client, user int, deletes func() bool) bool {
	var session *reader
	var found []uint64
	_, ok := c.run(client, mailOp{Name: "open", User: user}, func() ([]uint64, error) {
		var busy busyError
		err := error(busyError{})
		for errors.As(err, &busy) {
			session, err = login(c.server.pop3, fmt.Sprint("user", user), "any")
		}
		if err != nil {
			return nil, err
		}
		texts, err := session.messages()
		if err != nil {
			return nil, err
		}
		for _, text := range texts {
			number, err := numberOf(text)
			if err != nil {
				c.t.Error(err)
			}
			found = append(found, number)
		}
		sorted := slices.Clone(found)
		slices.Sort(sorted)
		return sorted, nil
	})
	if !ok {
		return false
	}
	var gone []int
	o := mailOp{Name: "quit", User: user}
	for i, number := range found {
		if deletes() {
			gone = append(gone, i)
			o.Numbers = append(o.Numbers, number)
		}
	}
	_, ok = c.run(client, o, func() ([]uint64, error) { return nil, session.quit(gone...) })
	return ok
}

func TestKilledServerLosesNoMail(t *testing.T) {
	lives := 40
	if testing.Short() {
		lives = 6
	}
	dir := t.TempDir()
	var mu sync.Mutex
	var events []crashtest.Event[mailOp, []uint64]
	var numbers atomic.Uint64
	r := rand.New(rand.NewPCG(4, 4))
	for life := range lives {
		c := &clients{t: t, server: start(t, dir, "--users", fmt.Sprint(killUsers)), mu: &mu, events: &events, numbers: &numbers}
		for user := range killUsers {
			seen := 0
			c.read(0, user, func() bool { seen++; return seen > killLetters })
		}
		var wait sync.WaitGroup
		for client := range 6 {
			r := rand.New(rand.NewPCG(uint64(life), uint64(client)))
			wait.Go(func() {
				for ok := true; ok; {
					if client < 4 {
						ok = c.send(client, r.IntN(killUsers))
					} else {
						left := killDeletions
						ok = c.read(client, r.IntN(killUsers), func() bool {
							if left == 0 || r.IntN(3) == 0 {
								return false
							}
							left--
							return true
						})
					}
				}
			})
		}
		time.Sleep(time.Duration(r.IntN(250)) * time.Millisecond)
		c.over.Store(true)
		if err := c.server.kill(); err != nil {
			t.Fatal(err)
		}
		wait.Wait()
		events = append(events, crashtest.Event[mailOp, []uint64]{Kind: crashtest.Crash})
		if t.Failed() {
			return
		}
	}
	if _, err := crashtest.CheckHistory(mailSpec(), events); err != nil {
		t.Error(err)
	}
	open, returned := 0, 0
	for _, e := range events {
		switch e.Kind {
		case crashtest.Call:
			open++
		case crashtest.Return:
			open--
			returned++
		}
	}
	t.Logf("%d lives, %d letters, %d operations, %d interrupted", lives, numbers.Load(), returned, open)
	if open == 0 || returned < 10*lives {
		t.Error("this test saw too little to mean anything")
	}
}
