// SPDX-License-Identifier: Apache-2.0

// Package mailboat keeps the mail of a fixed number of users in a file system:
// one directory per user, one file per message, and a directory "spool" for
// files that are being written. A message is written and synced in the spool,
// then linked into the directory of its user under a random name, which is its
// ID; the name is synced before Deliver returns.
//
// The promise, which proofs/top/mailboat.v states and proves: each operation is
// atomic, and messages are always whole. A message is visible from the moment
// it is linked; it is durable at the latest when Deliver returns. A deletion is
// durable at the latest when Delete returns. A crash may drop messages whose
// Deliver has not returned and may bring back messages whose Delete has not
// returned, and does nothing else.
//
// Deliveries run at any time, also to a user whose mail is being read. Pickup
// locks the user's mailbox against other readers, so that no message goes away
// while it is read; Unlock opens it. Delete is for who holds that lock, and for
// IDs which that Pickup returned and which were not deleted since; an unknown ID
// stops the process, as does a user that does not exist.
//
// The design is that of section 8 of "Verifying concurrent, crash-safe systems
// with Perennial" (SOSP'19), with fsync added. The package is in the subset that
// `ashlar prove translate` reads.
package mailboat

import (
	"sync"

	"github.com/ashlar-dev/ashlar/goose/primitive/filesys"
	"github.com/ashlar-dev/ashlar/goose/primitive/machine"
)

// spoolDir holds the files that are being written.
const spoolDir = "spool"

// chunkSize is how many bytes are written or read at once.
const chunkSize uint64 = 4096

// A Message is what Pickup finds in a mailbox.
type Message struct {
	ID       string
	Contents []byte
}

// Mailboat is an open mail store.
type Mailboat struct {
	fs    *filesys.FS
	locks []sync.Mutex
}

// Open recovers the store in fs, whose directories are "spool", "user0",
// "user1", and so on up to the number of users. Nobody else may use fs.
func Open(fs *filesys.FS, users uint64) *Mailboat {
	clearSpool(fs)
	locks := make([]sync.Mutex, users)
	return &Mailboat{fs: fs, locks: locks}
}

// Deliver puts a message into a user's mailbox. The caller does not change msg
// meanwhile.
func (m *Mailboat) Deliver(user uint64, msg []byte) {
	dir := userDir(user)
	tmp, f := createSpoolFile(m.fs)
	appendAll(m.fs, f, msg)
	m.fs.Sync(f)
	m.fs.Close(f)
	linkInto(m.fs, tmp, dir)
	m.fs.SyncDir(dir)
	m.fs.Unlink(spoolDir, tmp)
}

// Pickup locks a user's mailbox and returns what is in it, in no particular
// order.
func (m *Mailboat) Pickup(user uint64) []Message {
	mu := &m.locks[user]
	mu.Lock()
	dir := userDir(user)
	return readMailbox(m.fs, dir)
}

// Delete removes a message; the caller holds the lock of the mailbox, and the
// message is there.
func (m *Mailboat) Delete(user uint64, id string) {
	dir := userDir(user)
	m.fs.Unlink(dir, id)
	m.fs.SyncDir(dir)
}

// Unlock gives up the lock that Pickup took.
func (m *Mailboat) Unlock(user uint64) {
	mu := &m.locks[user]
	mu.Unlock()
}

// userDir is the name of a user's directory.
func userDir(user uint64) string {
	return "user" + machine.UInt64ToString(user)
}

// randomName is a name that is probably not taken.
func randomName() string {
	return machine.UInt64ToString(machine.RandomUint64())
}

// clearSpool removes what deliveries left behind that a crash cut short. No
// name in the spool is worth a SyncDir: one that comes back is removed by the
// next recovery.
func clearSpool(fs *filesys.FS) {
	for _, name := range fs.List(spoolDir) {
		fs.Unlink(spoolDir, name)
	}
}

// createSpoolFile makes a new file in the spool, and returns its name.
func createSpoolFile(fs *filesys.FS) (string, filesys.File) {
	for {
		name := randomName()
		f, ok := fs.Create(spoolDir, name)
		if ok {
			return name, f
		}
	}
}

// appendAll appends data to a file, in chunks.
func appendAll(fs *filesys.FS, f filesys.File, data []byte) {
	rest := data
	for uint64(len(rest)) > chunkSize {
		fs.Append(f, rest[:chunkSize])
		rest = rest[chunkSize:]
	}
	fs.Append(f, rest)
}

// linkInto gives a file of the spool a second name, in dir, that is not taken.
func linkInto(fs *filesys.FS, tmp string, dir string) {
	for !fs.Link(spoolDir, tmp, dir, randomName()) {
	}
}

// readMailbox reads all messages in a directory from which none is removed
// meanwhile.
func readMailbox(fs *filesys.FS, dir string) []Message {
	var msgs []Message
	for _, name := range fs.List(dir) {
		contents := readFile(fs, dir, name)
		msgs = append(msgs, Message{ID: name, Contents: contents})
	}
	return msgs
}

// readFile returns the contents of a file that exists.
func readFile(fs *filesys.FS, dir string, name string) []byte {
	f, _ := fs.Open(dir, name)
	data := readAll(fs, f)
	fs.Close(f)
	return data
}

// readAll reads an open file to its end. A read is short only there.
func readAll(fs *filesys.FS, f filesys.File) []byte {
	var data []byte
	for {
		next := fs.ReadAt(f, uint64(len(data)), chunkSize)
		data = append(data, next...)
		if uint64(len(next)) < chunkSize {
			return data
		}
	}
}
