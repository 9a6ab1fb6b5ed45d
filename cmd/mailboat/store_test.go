// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/goose/primitive/filesys"
	"github.com/ashlar-dev/ashlar/mail/mailboat"
)

// slowDisk is a file system that has room for a message when it is told so.
type slowDisk struct {
	*filesys.FS
	room chan struct{}
}

func (d slowDisk) Sync(f filesys.File) {
	<-d.room
	d.FS.Sync(f)
}

// TestDeliveryThatWaits: a client does not wait forever for a disk that has no
// room, deliveries that wait are bounded, and what they deliver counts.
func TestDeliveryThatWaits(t *testing.T) {
	dir := t.TempDir()
	files, err := filesys.Open(dir, dirs(2))
	if err != nil {
		t.Fatal(err)
	}
	room := make(chan struct{})
	free := int64(1 << 30)
	g := &guard{
		store: mailboat.Open(filesys.New(slowDisk{files, room}), 2), log: slog.New(slog.DiscardHandler),
		free: func() (int64, error) { return free, nil }, reserve: 1000, mailboxMax: 250, sessionsMax: 500,
		runningMax: 2, patience: 10 * time.Millisecond, ended: make(chan struct{}),
	}
	if err := g.countMail(dir, 2); err != nil {
		t.Fatal(err)
	}
	message := make([]byte, 100)
	for range 2 {
		if err := g.Deliver([]uint64{0}, message); !errors.Is(err, errBusy) {
			t.Errorf("a delivery without room: %v", err)
		}
	}
	g.patience = time.Hour
	if err := g.Deliver([]uint64{1}, message); !errors.Is(err, errBusy) {
		t.Errorf("a third: %v", err)
	}
	close(room)
	for !g.idle() {
		time.Sleep(time.Millisecond)
	}
	messages, err := g.Pickup(0)
	if err != nil || len(messages) != 2 {
		t.Fatalf("%d messages, %v", len(messages), err)
	}
	if err := g.Room(0, 100); !errors.Is(err, errMailbox) {
		t.Errorf("200 of 250 bytes are used: %v", err)
	}
	g.Delete(0, messages[0].ID)
	g.Unlock(0)
	if g.open != 0 {
		t.Errorf("%d bytes are open, and no session", g.open)
	}
	if err := g.Room(0, 100); err != nil {
		t.Errorf("100 of 250 bytes are used: %v", err)
	}
	// Room on the disk is asked for with each copy, and the reserve is not touched.
	free = 1000 + 2*(100+fileBytes) - 1
	if err := g.Deliver([]uint64{0, 1}, message); !errors.Is(err, errDisk) {
		t.Errorf("a byte is wanting: %v", err)
	}
	free++
	if err := g.Deliver([]uint64{0, 1}, message); err != nil {
		t.Error(err)
	}
	// A mailbox that has more than may be read, by an earlier configuration, is not.
	g.mailboxMax = 150
	if _, err := g.Pickup(0); err == nil {
		t.Error("200 bytes are read, of 150")
	}
	// What the disk has is counted by the next process too.
	used := g.used
	if err := g.countMail(dir, 2); err != nil || g.used[0] != used[0] || g.used[1] != used[1] {
		t.Errorf("%v, counted again %v, %v", used, g.used, err)
	}
	if err := files.Shut(); err != nil {
		t.Error(err)
	}
}

// TestStopDoesNotWait: when the server has to end, no client waits for room.
func TestStopDoesNotWait(t *testing.T) {
	dir := t.TempDir()
	files, err := filesys.Open(dir, dirs(1))
	if err != nil {
		t.Fatal(err)
	}
	room := make(chan struct{})
	g := &guard{
		store: mailboat.Open(filesys.New(slowDisk{files, room}), 1), log: slog.New(slog.DiscardHandler),
		free: func() (int64, error) { return 1 << 30, nil }, mailboxMax: 250, runningMax: 2, patience: time.Hour, ended: make(chan struct{}),
	}
	if err := g.countMail(dir, 1); err != nil {
		t.Fatal(err)
	}
	answer := make(chan error)
	go func() { answer <- g.Deliver([]uint64{0}, []byte("x")) }()
	for g.idle() {
		time.Sleep(time.Millisecond)
	}
	close(g.ended)
	if err := <-answer; !errors.Is(err, errBusy) {
		t.Error(err)
	}
	close(room)
	for !g.idle() {
		time.Sleep(time.Millisecond)
	}
	if err := files.Shut(); err != nil {
		t.Error(err)
	}
}
