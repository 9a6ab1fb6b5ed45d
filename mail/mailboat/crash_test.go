// SPDX-License-Identifier: Apache-2.0

package mailboat_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/goose/primitive/filesys"
	"github.com/ashlar-dev/ashlar/goose/primitive/mem"
	"github.com/ashlar-dev/ashlar/internal/evidence/crashtest"
	"github.com/ashlar-dev/ashlar/mail/mailboat"
)

const crashUsers = 2

func crashDirs() []string {
	dirs := []string{"spool"}
	for u := range crashUsers {
		dirs = append(dirs, fmt.Sprint("user", u))
	}
	return dirs
}

// op is an operation on a mailbox. A message is known by its text, which does
// not come twice; its ID is for mailboat to choose.
type op struct {
	Name string // deliver, pickup, delete, unlock
	User int
	Text text
}

// text stands for a message: a number and a length.
type text struct {
	Number uint64
	Length int
}

func (x text) bytes() []byte {
	head := fmt.Sprintf("%d %d ", x.Number, x.Length)
	return []byte((head + strings.Repeat(fmt.Sprintf("%x.", x.Number), x.Length/2+1))[:x.Length+len(head)])
}

// textOf is whose bytes these are. What is not whole is a text of length -1.
func textOf(b []byte) text {
	var x text
	if _, err := fmt.Sscanf(string(b[:min(len(b), 40)]), "%d %d ", &x.Number, &x.Length); err != nil || x.Length < 0 || !bytes.Equal(b, x.bytes()) {
		return text{Length: -1}
	}
	return x
}

func compareTexts(x, y text) int {
	if x.Number != y.Number {
		if x.Number < y.Number {
			return -1
		}
		return 1
	}
	return x.Length - y.Length
}

// box is a mailbox.
type box struct {
	texts  []text // sorted
	locked bool
}

type boxes [crashUsers]box

func (s boxes) with(user int, x text) boxes {
	i, _ := slices.BinarySearchFunc(s[user].texts, x, compareTexts)
	s[user].texts = slices.Insert(slices.Clone(s[user].texts), i, x)
	return s
}

func (s boxes) without(user int, x text) (boxes, bool) {
	i, there := slices.BinarySearchFunc(s[user].texts, x, compareTexts)
	if there {
		s[user].texts = slices.Delete(slices.Clone(s[user].texts), i, i+1)
	}
	return s, there
}

func step(s boxes, o op, ret *[]text) []boxes {
	b := &s[o.User]
	switch o.Name {
	case "deliver":
		return []boxes{s.with(o.User, o.Text)}
	case "pickup":
		if b.locked || ret != nil && !slices.Equal(*ret, b.texts) {
			return nil
		}
		b.locked = true
	case "delete":
		after, there := s.without(o.User, o.Text)
		if !b.locked || !there {
			return nil
		}
		return []boxes{after}
	case "unlock":
		if !b.locked {
			return nil
		}
		b.locked = false
	}
	return []boxes{s}
}

// crash may drop messages whose delivery has not returned, and bring back those
// whose deletion has not.
func crash(s boxes, inflight []op) []boxes {
	for u := range s {
		s[u].locked = false
	}
	left := []boxes{s}
	for _, o := range inflight {
		for _, x := range left {
			switch o.Name {
			case "deliver":
				if after, there := x.without(o.User, o.Text); there {
					left = append(left, after)
				}
			case "delete":
				left = append(left, x.with(o.User, o.Text))
			}
		}
	}
	return left
}

// mailDo runs operations, and finds the IDs that they need.
func mailDo(m *mailboat.Mailboat) crashtest.Do[op, []text] {
	var mu sync.Mutex
	ids := map[text]string{}
	return func(o op) []text {
		user := uint64(o.User)
		switch o.Name {
		case "deliver":
			m.Deliver(user, o.Text.bytes())
		case "pickup":
			found := []text{}
			seen := map[string]bool{}
			for _, msg := range m.Pickup(user) {
				x := textOf(msg.Contents)
				if seen[msg.ID] {
					x = text{Length: -2} // two messages with one ID
				}
				seen[msg.ID] = true
				found = append(found, x)
				mu.Lock()
				ids[x] = msg.ID
				mu.Unlock()
			}
			slices.SortFunc(found, compareTexts)
			return found
		case "delete":
			mu.Lock()
			id := ids[o.Text]
			mu.Unlock()
			m.Delete(user, id)
		case "unlock":
			m.Unlock(user)
		}
		return nil
	}
}

// client delivers a message, or picks up what is there and deletes some of it.
func client(r env.Random, _ int, do crashtest.Do[op, []text]) {
	user := env.IntN(r, crashUsers)
	if env.IntN(r, 5) < 3 {
		length := []int{0, 1, 10, 4096, 9000}[env.IntN(r, 5)]
		if length == 4096 { // with its head, a text about as long as what is read at once
			length += -30 + env.IntN(r, 32)
		}
		do(op{"deliver", user, text{r.Uint64() >> 24, length}})
		return
	}
	for _, x := range do(op{Name: "pickup", User: user}) {
		if env.IntN(r, 3) > 0 {
			do(op{"delete", user, x})
		}
	}
	do(op{Name: "unlock", User: user})
}

func system() crashtest.System[boxes, op, []text] {
	return crashtest.System[boxes, op, []text]{
		Name: "mailboat",
		Spec: crashtest.Spec[boxes, op, []text]{
			Step: step, Crash: crash,
			Key: func(s boxes) string { return fmt.Sprint(s) },
		},
		Clients: 5,
		Client:  client,
		Observe: func(do crashtest.Do[op, []text]) {
			for u := range crashUsers {
				do(op{Name: "pickup", User: u})
				do(op{Name: "unlock", User: u})
			}
		},
		Build: func(m *mem.Machine) func(*mem.Life) crashtest.Do[op, []text] {
			fs := m.NewFS(crashDirs())
			return func(l *mem.Life) crashtest.Do[op, []text] { return mailDo(mailboat.Open(fs.Open(l), crashUsers)) }
		},
		Open: func(dir string) (crashtest.Do[op, []text], error) {
			fs, err := filesys.Open(dir, crashDirs())
			if err != nil {
				return nil, err
			}
			return mailDo(mailboat.Open(fs, crashUsers)), nil
		},
	}
}

func TestCrashes(t *testing.T) {
	crashtest.Simulate(t, system(), crashtest.Effort{Losses: 6, Rounds: 4}).Enough(t)
}

func TestKilled(t *testing.T) {
	kills := 60
	if testing.Short() {
		kills = 10
	}
	crashtest.Kill(t, system(), kills, 1)
}
