// SPDX-License-Identifier: Apache-2.0

// Command timeseries keeps measurements for a while: each hour has a keyspace of its own,
// and what is too old is dropped an hour at a time, without reading it.
//
// This is also how records expire in a store that has no expiry of single keys: choose
// the keyspace by the time when the record ends.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/store"
)

const usage = `usage: timeseries --dir DIR [--keep HOURS] COMMAND

  add SERIES TIME VALUE    add a measurement; TIME is like 2026-11-23T20:15:00Z
  read SERIES FROM TO      print those from FROM up to TO, without TO
  check                    see whether each moment has a value of all series of work
  work                     measure each minute from 2026-01-01 on, as quickly as it can, until
                           a signal comes, and print "added TIME" when that is durable

Hours that began more than --keep hours (48) before the newest are dropped.

For example:
  timeseries --dir /tmp/ts add kitchen 2026-11-23T20:15:00Z 21.5
  timeseries --dir /tmp/ts read kitchen 2026-11-23T00:00:00Z 2026-11-24T00:00:00Z
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("timeseries", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.Usage = func() { fmt.Fprint(errs, usage) }
	dir := flags.String("dir", "", "where the measurements are")
	keep := flags.Int("keep", 48, "hours")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil || *dir == "" || *keep < 1 || flags.NArg() == 0 {
		fmt.Fprint(errs, usage)
		return 2
	}
	s, err := open(*dir, time.Duration(*keep)*time.Hour)
	if err == nil {
		err = errors.Join(command(ctx, s, flags.Args(), out), s.db.Close(), s.disk.Close())
	}
	if err != nil {
		fmt.Fprintln(errs, "timeseries:", err)
		return 1
	}
	return 0
}

func command(ctx context.Context, s *series, args []string, out io.Writer) error {
	switch {
	case args[0] == "add" && len(args) == 4:
		at, err := time.Parse(time.RFC3339, args[2])
		var v float64
		if err == nil {
			_, err = fmt.Sscan(args[3], &v)
		}
		if err != nil {
			return err
		}
		return s.add(at, map[string]float64{args[1]: v})
	case args[0] == "read" && len(args) == 4:
		from, err := time.Parse(time.RFC3339, args[2])
		if err != nil {
			return err
		}
		to, err := time.Parse(time.RFC3339, args[3])
		if err != nil {
			return err
		}
		return s.read(args[1], from, to, func(at time.Time, v float64) {
			fmt.Fprintf(out, "%s %v\n", at.UTC().Format(time.RFC3339), v)
		})
	case args[0] == "check" && len(args) == 1:
		n, err := s.check()
		if err == nil {
			fmt.Fprintf(out, "sound, %d moments\n", n)
		}
		return err
	case args[0] == "work" && len(args) == 1:
		return s.work(ctx, out)
	}
	return fmt.Errorf("not a command: %q", args)
}

type series struct {
	disk *osenv.Disk
	db   *store.DB
	keep time.Duration
}

func open(dir string, keep time.Duration) (*series, error) {
	disk, err := osenv.OpenDisk(dir)
	if err != nil {
		return nil, err
	}
	world := osenv.New()
	world.Disk = disk
	db, err := store.Open(world, "series", store.Options{Memory: 64 << 20})
	if err != nil {
		return nil, errors.Join(err, disk.Close())
	}
	return &series{disk, db, keep}, nil
}

// hourForm names the keyspace of an hour; names sort by time.
const hourForm = "2006-01-02T15"

func hourOf(at time.Time) string { return at.UTC().Format(hourForm) }

// key sorts the measurements of a series by time. No name has a byte 0.
func key(name string, at time.Time) []byte {
	return binary.BigEndian.AppendUint64(append([]byte(name), 0), uint64(at.Unix()))
}

// newest has the time of the newest measurement.
var newest = []byte("newest")

// add adds the values of a moment, all or none, and drops what is too old then.
func (s *series) add(at time.Time, values map[string]float64) error {
	for name := range values {
		if strings.Contains(name, "\x00") {
			return fmt.Errorf("the name of a series has a byte 0: %q", name)
		}
	}
	last, err := s.last()
	if err != nil {
		return err
	}
	if at.Before(last.Add(-s.keep).Truncate(time.Hour)) {
		return fmt.Errorf("%s is too old: the newest is %s", at.UTC().Format(time.RFC3339), last.UTC().Format(time.RFC3339))
	}
	hour, err := s.db.Keyspace(hourOf(at))
	if err != nil {
		return err
	}
	b := s.db.NewBatch()
	for name, v := range values {
		b.In(hour).Put(key(name, at), binary.BigEndian.AppendUint64(nil, math.Float64bits(v)))
	}
	if at.After(last) {
		b.Put(newest, binary.BigEndian.AppendUint64(nil, uint64(at.Unix())))
	}
	if err := s.db.Commit(b, store.Sync); err != nil {
		return err
	}
	if hourOf(at) == hourOf(last) {
		return nil
	}
	return s.expire(at)
}

// last is the time of the newest measurement.
func (s *series) last() (time.Time, error) {
	v, err := s.db.Get(newest, nil)
	if errors.Is(err, store.ErrNotFound) {
		return time.Unix(0, 0), nil
	} else if err != nil {
		return time.Time{}, err
	}
	if len(v) != 8 {
		return time.Time{}, fmt.Errorf("the newest time has %d bytes", len(v))
	}
	return time.Unix(int64(binary.BigEndian.Uint64(v)), 0), nil
}

// expire drops the hours that are too old at that time.
func (s *series) expire(at time.Time) error {
	oldest := hourOf(at.Add(-s.keep))
	hours, err := s.db.Keyspaces()
	if err != nil {
		return err
	}
	for _, name := range hours {
		if name >= oldest {
			continue
		}
		hour, err := s.db.Keyspace(name)
		if err == nil {
			err = hour.Drop()
		}
		if err != nil {
			return fmt.Errorf("drop %s: %w", name, err)
		}
	}
	return nil
}

// read passes on the measurements of a series in [from, to), in their order.
func (s *series) read(name string, from, to time.Time, each func(at time.Time, v float64)) error {
	hours, err := s.db.Keyspaces()
	if err != nil {
		return err
	}
	slices.Sort(hours)
	for _, h := range hours {
		if h < hourOf(from) || h > hourOf(to) {
			continue
		}
		hour, err := s.db.Keyspace(h)
		if err != nil {
			return err
		}
		it, err := hour.Iter(key(name, from), key(name, to))
		if err != nil {
			return err
		}
		for ok := it.First(); ok; ok = it.Next() {
			k, v := it.Key(), it.Value()
			each(time.Unix(int64(binary.BigEndian.Uint64(k[len(k)-8:])), 0), math.Float64frombits(binary.BigEndian.Uint64(v)))
		}
		if err := it.Close(); err != nil {
			return err
		}
	}
	return nil
}

// What work measures, and how often.
var measured = []string{"cellar", "kitchen", "roof"}

const step = time.Minute

func (s *series) work(ctx context.Context, out io.Writer) error {
	at, err := s.last()
	if err != nil {
		return err
	}
	if start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC); at.Before(start) {
		at = start
	}
	for ctx.Err() == nil {
		at = at.Add(step)
		values := map[string]float64{}
		for i, name := range measured {
			values[name] = valueAt(i, at)
		}
		if err := s.add(at, values); err != nil {
			return err
		}
		fmt.Fprintf(out, "added %s\n", at.UTC().Format(time.RFC3339))
	}
	return nil
}

// valueAt is what work measures at a time.
func valueAt(i int, at time.Time) float64 { return float64(i*100) + float64(at.Unix()/60%1440)/1440 }

// check returns how many moments there are. Since the oldest hour that is kept, or since work
// began, each minute must have the right values of all series, and none comes after the newest.
func (s *series) check() (n int, err error) {
	last, err := s.last()
	if err != nil {
		return 0, err
	}
	hours, err := s.db.Keyspaces()
	if err != nil || len(hours) == 0 {
		return 0, err
	}
	slices.Sort(hours)
	// The last add may have been killed before it has dropped an hour.
	if limit := hourOf(last.Add(-s.keep - time.Hour)); hours[0] < limit {
		return 0, fmt.Errorf("hour %s is there, the newest is %s", hours[0], last)
	}
	for i, name := range measured {
		var at time.Time
		wrong := error(nil)
		count := 0
		err := s.read(name, time.Unix(0, 0), last.Add(24*time.Hour), func(t time.Time, v float64) {
			if !at.IsZero() && t.Sub(at) != step || v != valueAt(i, t) {
				wrong = errors.Join(wrong, fmt.Errorf("%s: %v at %s behind %s", name, v, t, at))
			}
			at = t
			count++
		})
		if err = errors.Join(err, wrong); err != nil {
			return 0, err
		}
		if !at.Equal(last) || i > 0 && count != n {
			return 0, fmt.Errorf("%s: %d moments up to %s, want %d up to %s", name, count, at, n, last)
		}
		n = count
	}
	return n, nil
}
