// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/mail/mailboat"
)

// The proved store has no errors: for its model, a machine that has no room is a
// machine that is slow or that crashes. So what would run out is asked for before
// the store is called, and refused here, where a client can be answered:
//
//   - a delivery wants room on the disk, for each recipient's copy, beside what
//     deliveries under way may still write and a reserve; and room in the mailbox;
//   - a session wants memory for its whole mailbox, as Pickup reads it at once.
//
// Should the room go all the same, as others write to the disk too, the file
// system waits for room, and the delivery with it. The client then gets an answer
// after a while, and the mail is there when there is room: it may come twice.

// guard is between the protocols and the store. It is safe for concurrent use.
type guard struct {
	store       *mailboat.Mailboat
	log         *slog.Logger
	free        func() (int64, error) // bytes on the disk that this process may have
	reserve     int64                 // of them, are never asked for
	mailboxMax  int64                 // bytes of a mailbox
	sessionsMax int64                 // bytes of the mailboxes that sessions have open
	runningMax  int                   // deliveries at once
	patience    time.Duration         // how long a client waits for a delivery
	ended       chan struct{}         // closed when no session waits any more

	mu      sync.Mutex
	running int                         // deliveries
	writing int64                       // what they may still write
	used    []int64                     // by each user, what is being delivered included
	sizes   map[uint64]map[string]int64 // of the messages that a session has
	open    int64                       // bytes that sessions have
}

// The temporary errors: the client may try again later.
var (
	errDisk    = errors.New("not enough room on the disk, try again later")
	errMailbox = errors.New("the mailbox is full, try again later")
	errBusy    = errors.New("too much mail at once, try again later")
)

// fileBytes is the disk space that a file takes in addition to its content: its
// inode, names, and the rest of a block.
const fileBytes = 16 << 10

// countMail counts the messages and bytes in each user's mailbox. It requires
// that there are no concurrent writes.
func (g *guard) countMail(dir string, users uint64) error {
	g.used = make([]int64, users)
	g.sizes = map[uint64]map[string]int64{}
	for u := range users {
		entries, err := os.ReadDir(filepath.Join(dir, fmt.Sprint("user", u)))
		if err != nil {
			return err
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				return err
			}
			g.used[u] += info.Size()
		}
	}
	return nil
}

// Room implements smtp.Store.
func (g *guard) Room(user uint64, bytes int64) error {
	free, err := g.free()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.room(free, err, []uint64{user}, bytes)
}

// room returns an error if the store cannot accept a message for these users
// now. The caller holds g.mu.
func (g *guard) room(free int64, err error, users []uint64, size int64) error {
	all := (size + fileBytes) * int64(len(users))
	switch {
	case err != nil:
		g.log.Warn("free space is unknown", "error", err)
		return errDisk
	case g.running >= g.runningMax:
		return errBusy
	case free-g.reserve-g.writing < all:
		g.log.Warn("no room", "free", free, "reserve", g.reserve, "writing", g.writing, "wanted", all)
		return errDisk
	}
	for _, user := range users {
		if g.used[user]+size > g.mailboxMax {
			return errMailbox
		}
	}
	return nil
}

// Deliver implements smtp.Store.
func (g *guard) Deliver(users []uint64, message []byte) error {
	size := int64(len(message))
	all := (size + fileBytes) * int64(len(users))
	if err := g.begin(users, size, all); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, user := range users {
			g.store.Deliver(user, message)
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.running--
		g.writing -= all
	}()
	select {
	case <-done:
		return nil
	case <-g.ended:
	case <-time.After(g.patience):
		g.log.Warn("a delivery waits for room", "bytes", size, "users", len(users))
	}
	return errBusy
}

// begin counts a delivery as under way, or refuses it.
func (g *guard) begin(users []uint64, size, all int64) error {
	free, err := g.free()
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.room(free, err, users, size); err != nil {
		return err
	}
	for _, user := range users {
		g.used[user] += size
	}
	g.running++
	g.writing += all
	return nil
}

// Pickup implements pop3.Store.
func (g *guard) Pickup(user uint64) ([]mailboat.Message, error) {
	g.mu.Lock()
	size := g.used[user]
	switch {
	case size > g.mailboxMax:
		g.mu.Unlock()
		return nil, fmt.Errorf("the mailbox has %d bytes, more than the %d of --mailbox-bytes-max", size, g.mailboxMax)
	case g.open+g.mailboxMax > g.sessionsMax: // more may be delivered before it is read
		g.mu.Unlock()
		return nil, errBusy
	}
	g.open += g.mailboxMax
	g.mu.Unlock()

	messages := g.store.Pickup(user)

	g.mu.Lock()
	defer g.mu.Unlock()
	g.open -= g.mailboxMax
	sizes := map[string]int64{}
	for _, m := range messages {
		sizes[m.ID] = int64(len(m.Contents))
		g.open += sizes[m.ID]
	}
	g.sizes[user] = sizes
	return messages, nil
}

// Delete implements pop3.Store.
func (g *guard) Delete(user uint64, id string) {
	g.store.Delete(user, id)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.used[user] -= g.sizes[user][id]
}

// Unlock implements pop3.Store.
func (g *guard) Unlock(user uint64) {
	g.mu.Lock()
	for _, size := range g.sizes[user] {
		g.open -= size
	}
	delete(g.sizes, user)
	g.mu.Unlock()
	g.store.Unlock(user)
}

// idle reports whether no delivery is under way.
func (g *guard) idle() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running == 0
}
