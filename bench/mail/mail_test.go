// SPDX-License-Identifier: Apache-2.0

package mail

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"

	"github.com/ashlar-dev/ashlar/goose/primitive/filesys"
	"github.com/ashlar-dev/ashlar/mail/mailboat"
)

const (
	users        = 100
	messageBytes = 1024
)

// memory is where Linux has a file system in memory.
const memory = "/dev/shm"

func openStore(b *testing.B, dir string) *mailboat.Mailboat {
	b.Helper()
	dirs := []string{"spool"}
	for u := range users {
		dirs = append(dirs, fmt.Sprint("user", u))
	}
	fs, err := filesys.Open(dir, dirs)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := fs.Shut(); err != nil {
			b.Error(err)
		}
	})
	return mailboat.Open(fs, users)
}

// mix runs b.N requests, on as many goroutines as there are cores.
func mix(b *testing.B, dir string) {
	store := openStore(b, dir)
	message := bytes.Repeat([]byte("All is well on board.\r\n"), messageBytes/23+1)[:messageBytes]
	var cores atomic.Uint64
	var delivered, read atomic.Int64
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		r := rand.New(rand.NewPCG(1, cores.Add(1)))
		for pb.Next() {
			user := r.Uint64N(users)
			if r.IntN(2) == 0 {
				store.Deliver(user, message)
				delivered.Add(1)
				continue
			}
			for _, m := range store.Pickup(user) {
				if len(m.Contents) != messageBytes {
					b.Errorf("a message of %d bytes", len(m.Contents))
				}
				store.Delete(user, m.ID)
				read.Add(1)
			}
			store.Unlock(user)
		}
	})
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	for user := range uint64(users) {
		read.Add(int64(len(store.Pickup(user))))
		store.Unlock(user)
	}
	if delivered.Load() != read.Load() {
		b.Errorf("%d messages delivered, %d found", delivered.Load(), read.Load())
	}
}

func BenchmarkMemory(b *testing.B) {
	dir, err := os.MkdirTemp(memory, "mail")
	if err != nil {
		b.Skip("no file system in memory: ", err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	mix(b, dir)
}

func BenchmarkDisk(b *testing.B) { mix(b, b.TempDir()) }
