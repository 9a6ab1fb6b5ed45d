// SPDX-License-Identifier: Apache-2.0

// Command queue is a queue on disk, which keeps its order, also after kill -9. An item is
// popped at most once: a pop removes it durably and then prints it, so that what a killed
// pop had taken may be gone.
//
// The items have consecutive numbers, and two keys have the numbers of the first and of the
// one behind the last. They change in one transaction with the items. So a pop reads two keys. It
// does not look for the first item with an iterator, which would pass over
// everything that was popped and not yet merged away.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/store"
)

const usage = `usage: queue --dir DIR COMMAND

  push TEXT   add an item
  pop         take the first item and print it: at most once, since what a killed
              pop had taken may be gone
  check       see whether the items are those between the two counters
  work        push and pop in four goroutines until a signal comes, and print
              "pushed N ITEM" and "popped N ITEM" when that is durable

For example:
  queue --dir /tmp/q push "write to Ada"
  queue --dir /tmp/q pop
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("queue", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.Usage = func() { fmt.Fprint(errs, usage) }
	dir := flags.String("dir", "", "where the queue is")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil || *dir == "" || flags.NArg() == 0 {
		fmt.Fprint(errs, usage)
		return 2
	}
	q, err := open(*dir)
	if err == nil {
		err = errors.Join(command(ctx, q, flags.Args(), out), q.db.Close(), q.disk.Close())
	}
	if err != nil {
		fmt.Fprintln(errs, "queue:", err)
		return 1
	}
	return 0
}

func command(ctx context.Context, q *queue, args []string, out io.Writer) error {
	switch args[0] {
	case "push":
		_, err := q.push(ctx, []byte(strings.Join(args[1:], " ")))
		return err
	case "pop":
		_, item, err := q.pop(ctx)
		if err == nil {
			fmt.Fprintf(out, "%s\n", item)
		}
		return err
	case "check":
		n, err := q.check()
		if err == nil {
			fmt.Fprintf(out, "sound, %d items\n", n)
		}
		return err
	case "work":
		return q.work(ctx, out)
	}
	return fmt.Errorf("unknown command %q", args[0])
}

type queue struct {
	disk *osenv.Disk
	db   *store.DB
}

func open(dir string) (*queue, error) {
	disk, err := osenv.OpenDisk(dir)
	if err != nil {
		return nil, err
	}
	world := osenv.New()
	world.Disk = disk
	db, err := store.Open(world, "queue", store.Options{Memory: 64 << 20})
	if err != nil {
		return nil, errors.Join(err, disk.Close())
	}
	return &queue{disk, db}, nil
}

// The counters: the number of the first item, and of the next one that is pushed.
var first, next = []byte("first"), []byte("next")

var errEmpty = errors.New("the queue is empty")

// itemKey sorts by the number.
func itemKey(n uint64) []byte { return binary.BigEndian.AppendUint64([]byte("item"), n) }

// number reads a counter, which is 0 at the beginning.
func number(get func(key, dst []byte) ([]byte, error), key []byte) (uint64, error) {
	v, err := get(key, nil)
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil
	}
	if err == nil && len(v) != 8 {
		err = fmt.Errorf("counter %s has %d bytes", key, len(v))
	}
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint64(v), nil
}

// push adds an item, and returns its number when it is durable.
func (q *queue) push(ctx context.Context, item []byte) (n uint64, err error) {
	err = q.db.Update(ctx, store.Sync, func(tx *store.Tx) error {
		if n, err = number(tx.Get, next); err != nil {
			return err
		}
		return errors.Join(tx.Put(itemKey(n), item), tx.Put(next, binary.BigEndian.AppendUint64(nil, n+1)))
	})
	return n, err
}

// pop takes the first item, and returns it when no program can pop it again. A program that
// must not lose the item when it is killed then needs a second queue, of items at work,
// into which the same transaction puts it.
func (q *queue) pop(ctx context.Context) (n uint64, item []byte, err error) {
	err = q.db.Update(ctx, store.Sync, func(tx *store.Tx) error {
		if n, err = number(tx.Get, first); err != nil {
			return err
		}
		if item, err = tx.Get(itemKey(n), nil); errors.Is(err, store.ErrNotFound) {
			return errEmpty
		} else if err != nil {
			return err
		}
		return errors.Join(tx.Delete(itemKey(n)), tx.Put(first, binary.BigEndian.AppendUint64(nil, n+1)))
	})
	return n, item, err
}

// check returns how many items there are. They must be those between the counters, in one
// moment.
func (q *queue) check() (n uint64, err error) {
	s := q.db.Snapshot()
	defer s.Close()
	lo, err := number(s.Get, first)
	if err != nil {
		return 0, err
	}
	hi, err := number(s.Get, next)
	if err != nil {
		return 0, err
	}
	it, err := s.Iterate(store.IterOptions{Prefix: []byte("item"), KeysOnly: true})
	if err != nil {
		return 0, err
	}
	at := lo
	for ok := it.First(); ok; ok = it.Next() {
		if string(it.Key()) != string(itemKey(at)) {
			return 0, errors.Join(fmt.Errorf("item %x where %x is next", it.Key(), itemKey(at)), it.Close())
		}
		at++
	}
	if err := it.Close(); err != nil {
		return 0, err
	}
	if at != hi {
		return 0, fmt.Errorf("items %d to %d, the counters say %d to %d", lo, at, lo, hi)
	}
	return hi - lo, nil
}

// work pushes and pops until the context is done.
func (q *queue) work(ctx context.Context, out io.Writer) error {
	var print sync.Mutex
	say := func(what string, n uint64, item []byte) {
		print.Lock()
		defer print.Unlock()
		fmt.Fprintf(out, "%s %d %s\n", what, n, item)
	}
	parent := ctx
	ctx, stop := context.WithCancel(parent)
	defer stop()
	filled := make(chan struct{}, 1) // since a pop has found the queue empty
	failed := make(chan error, 4)
	for worker := range 2 {
		go func() {
			for i := 0; ctx.Err() == nil; i++ {
				item := fmt.Appendf(nil, "%d-%d-%d", os.Getpid(), worker, i)
				n, err := q.push(ctx, item)
				if err != nil {
					failed <- err
					return
				}
				say("pushed", n, item)
				select {
				case filled <- struct{}{}:
				default:
				}
			}
			failed <- nil
		}()
		go func() {
			for ctx.Err() == nil {
				n, item, err := q.pop(ctx)
				if errors.Is(err, errEmpty) {
					select {
					case <-filled:
					case <-ctx.Done():
					}
					continue
				} else if err != nil {
					failed <- err
					return
				}
				say("popped", n, item)
			}
			failed <- nil
		}()
	}
	var err error
	for range 4 {
		e := <-failed
		if e != nil && parent.Err() == nil && !errors.Is(e, context.Canceled) {
			err = errors.Join(err, e)
		}
		stop() // none goes on, or waits, without the others
	}
	return err
}
