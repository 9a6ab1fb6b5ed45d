// SPDX-License-Identifier: Apache-2.0

// Command index keeps people, and finds them by their city: a secondary index, which
// changes in one transaction with the records.
//
// A record is at its number, and for each there is an entry of the index: a key of city and
// number, without a value. A change reads the old record to know which entry ends. Two
// changes of one record at a time are a conflict, and one of them is made again.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/store"
)

const usage = `usage: index --dir DIR COMMAND

  put ID CITY NAME   add a person, or change one
  delete ID          remove one
  in CITY            print who lives there
  check              see whether records and index say the same
  work               change people in three goroutines until a signal comes, and print
                     "W put ID CITY" or "W deleted ID" when that is durable, W being
                     the number of the goroutine

For example:
  index --dir /tmp/people put 7 London "Ada Lovelace"
  index --dir /tmp/people in London
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("index", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.Usage = func() { fmt.Fprint(errs, usage) }
	dir := flags.String("dir", "", "where the people are")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil || *dir == "" || flags.NArg() == 0 {
		fmt.Fprint(errs, usage)
		return 2
	}
	p, err := open(*dir)
	if err == nil {
		err = errors.Join(command(ctx, p, flags.Args(), out), p.db.Close(), p.disk.Close())
	}
	if err != nil {
		fmt.Fprintln(errs, "index:", err)
		return 1
	}
	return 0
}

func command(ctx context.Context, p *people, args []string, out io.Writer) error {
	switch {
	case args[0] == "put" && len(args) >= 4:
		return p.put(ctx, args[1], args[2], strings.Join(args[3:], " "))
	case args[0] == "delete" && len(args) == 2:
		return p.put(ctx, args[1], "", "")
	case args[0] == "in" && len(args) == 2:
		return p.in(args[1], func(id, name string) { fmt.Fprintf(out, "%s %s\n", id, name) })
	case args[0] == "check" && len(args) == 1:
		n, err := p.check()
		if err == nil {
			fmt.Fprintf(out, "sound, %d people\n", n)
		}
		return err
	case args[0] == "work" && len(args) == 1:
		return p.work(ctx, out)
	}
	return fmt.Errorf("not a command: %q", args)
}

// people are records and their index, each in a keyspace.
type people struct {
	disk           *osenv.Disk
	db             *store.DB
	records, index *store.Keyspace
}

func open(dir string) (*people, error) {
	disk, err := osenv.OpenDisk(dir)
	if err != nil {
		return nil, err
	}
	world := osenv.New()
	world.Disk = disk
	db, err := store.Open(world, "people", store.Options{Memory: 64 << 20})
	if err != nil {
		return nil, errors.Join(err, disk.Close())
	}
	p := &people{disk: disk, db: db}
	if p.records, err = db.Keyspace("records"); err == nil {
		p.index, err = db.Keyspace("by city")
	}
	if err != nil {
		return nil, errors.Join(err, db.Close(), disk.Close())
	}
	return p, nil
}

// entry is a key of the index. No city has a byte 0.
func entry(city, id string) []byte { return []byte(city + "\x00" + id) }

// put changes a person; without a city it removes one. The change is durable when it
// returns.
func (p *people) put(ctx context.Context, id, city, name string) error {
	if strings.Contains(city, "\x00") {
		return fmt.Errorf("the name of a city has a byte 0: %q", city)
	}
	return p.db.Update(ctx, store.Sync, func(tx *store.Tx) error {
		records, index := tx.In(p.records), tx.In(p.index)
		old, err := records.Get([]byte(id), nil)
		if err == nil {
			before, _, _ := strings.Cut(string(old), "\x00")
			err = index.Delete(entry(before, id))
		} else if errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		if err != nil {
			return err
		}
		if city == "" {
			return records.Delete([]byte(id))
		}
		return errors.Join(records.Put([]byte(id), []byte(city+"\x00"+name)), index.Put(entry(city, id), nil))
	})
}

// in passes on the people of a city, as they are in one moment.
func (p *people) in(city string, each func(id, name string)) error {
	s := p.db.Snapshot()
	defer s.Close()
	it, err := s.In(p.index).Iterate(store.IterOptions{Prefix: entry(city, ""), KeysOnly: true})
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		_, id, _ := bytes.Cut(it.Key(), []byte{0})
		record, err := s.In(p.records).Get(id, nil)
		if err != nil {
			return errors.Join(fmt.Errorf("record %s of the index: %w", id, err), it.Close())
		}
		_, name, _ := strings.Cut(string(record), "\x00")
		each(string(id), name)
	}
	return it.Close()
}

// check returns how many people there are: each record must have its entry in the index, and
// there are no others.
func (p *people) check() (n int, err error) {
	s := p.db.Snapshot()
	defer s.Close()
	want := map[string]bool{}
	it, err := s.In(p.records).Iter(nil, nil)
	if err != nil {
		return 0, err
	}
	for ok := it.First(); ok; ok = it.Next() {
		city, _, _ := strings.Cut(string(it.Value()), "\x00")
		want[string(entry(city, string(it.Key())))] = true
	}
	if err := it.Close(); err != nil {
		return 0, err
	}
	n = len(want)
	it, err = s.In(p.index).Iterate(store.IterOptions{KeysOnly: true})
	if err != nil {
		return 0, err
	}
	for ok := it.First(); ok; ok = it.Next() {
		if !want[string(it.Key())] {
			return 0, errors.Join(fmt.Errorf("entry %q without its record", it.Key()), it.Close())
		}
		delete(want, string(it.Key()))
	}
	if err := it.Close(); err != nil {
		return 0, err
	}
	for e := range want {
		return 0, fmt.Errorf("no entry %q for its record", e)
	}
	return n, nil
}

// changes returns what a goroutine of work does, one change at a time. Without a city it is
// a delete.
func changes(process, worker int) func() (id, city string) {
	cities := []string{"Athens", "London", "Paris", ""}
	r := rand.New(rand.NewPCG(uint64(process), uint64(worker)))
	return func() (id, city string) { return fmt.Sprint(r.IntN(20)), cities[r.IntN(len(cities))] }
}

// work changes few people, so that goroutines meet, until the context is done.
func (p *people) work(ctx context.Context, out io.Writer) error {
	var print sync.Mutex
	failed := make(chan error, 3)
	for worker := range cap(failed) {
		go func() {
			change := changes(os.Getpid(), worker)
			for ctx.Err() == nil {
				id, city := change()
				if err := p.put(ctx, id, city, "somebody"); err != nil {
					failed <- err
					return
				}
				print.Lock()
				if city == "" {
					fmt.Fprintf(out, "%d deleted %s\n", worker, id)
				} else {
					fmt.Fprintf(out, "%d put %s %s\n", worker, id, city)
				}
				print.Unlock()
			}
			failed <- nil
		}()
	}
	var err error
	for range cap(failed) {
		if e := <-failed; e != nil && ctx.Err() == nil {
			err = errors.Join(err, e)
		}
	}
	return err
}
