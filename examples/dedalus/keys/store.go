// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/client"
	"github.com/ashlar-dev/ashlar/env"
)

// LogNode is the client to which the programs report every slot.
const LogNode = "log"

// Options of a Store. All but Retry are needed.
type Options struct {
	Env env.Env
	// Program may be an outline, as package gen makes one.
	Program *rt.Program
	// Nodes are where the instances listen that have to do with clients, To those that
	// take commands.
	Nodes map[string]env.Addr
	To    []string
	// Clients are the names of the nodes that operations come from.
	Clients []string
	// Retry is after how long an operation is asked for again.
	Retry time.Duration
}

// Store is a client of a program that keeps keys. It is safe for concurrent use, but for
// one operation at a time of each client.
type Store struct {
	o       Options
	propose int
	replies int
	leader  int
	chosen  int // -1 where replicas apply the log
	callers []*client.Caller
	log     *client.Client

	mu      sync.Mutex
	replica *Replica
	applied chan struct{} // closed when more is applied, and replaced
	broken  error
	serial  uint64
}

// OpenStore connects.
func OpenStore(o Options) (*Store, error) {
	s := &Store{o: o, replica: NewReplica(), applied: make(chan struct{})}
	find := func(name string, kind rt.RelationKind) int {
		return slices.IndexFunc(o.Program.Relations, func(r rt.Relation) bool { return r.Name == name && r.Kind == kind })
	}
	s.propose, s.replies, s.leader, s.chosen = find("propose", rt.Input), find("reply", rt.Output), find("leader", rt.Output), find("chosen", rt.Output)
	if s.propose < 0 || s.replies < 0 || s.leader < 0 || len(o.Clients) == 0 {
		return nil, fmt.Errorf("%s keeps no keys: want an input propose, and outputs reply and leader", o.Program.Name)
	}
	if err := s.open(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Store) open() (err error) {
	dial := func(name string) client.Options {
		return client.Options{Env: s.o.Env, Program: s.o.Program, Name: name, Nodes: s.o.Nodes}
	}
	if s.chosen >= 0 {
		d := dial(LogNode)
		d.Output = func(_ string, relation int, row []byte) {
			if relation == s.chosen {
				if v, err := rt.ReadRow(row, s.o.Program.Relations[relation].Columns); err == nil {
					s.told(v[0].Num, v[1].Str)
				}
			}
		}
		if s.log, err = client.Open(d); err != nil {
			return err
		}
	}
	for i, name := range s.o.Clients {
		c, err := client.OpenCaller(client.CallerOptions{Options: dial(name), To: s.o.To, Retry: s.o.Retry,
			Key: func(relation int, row []byte) (string, bool) { return s.key(i, relation, row) }})
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.callers = append(s.callers, c)
		s.mu.Unlock()
	}
	return nil
}

// key says which operation of a client an output answers.
func (s *Store) key(i, relation int, row []byte) (string, bool) {
	v, err := rt.ReadRow(row, s.o.Program.Relations[relation].Columns)
	if err != nil {
		return "", false
	}
	switch {
	case relation == s.leader:
		s.mu.Lock()
		if i < len(s.callers) {
			s.callers[i].Prefer(v[1].Str)
		}
		s.mu.Unlock()
	case relation == s.replies && s.chosen < 0:
		return fmt.Sprint(v[0].Num), true
	case relation == s.replies:
		s.told(v[0].Num, v[1].Str)
		return v[1].Str, true
	}
	return "", false
}

// told handles the report of a slot.
func (s *Store) told(slot uint64, command string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.replica.Applied()
	if err := s.replica.Tell(slot, command); err != nil {
		s.broken = errors.Join(s.broken, err)
	}
	if s.replica.Applied() > before || s.broken != nil {
		close(s.applied)
		s.applied = make(chan struct{})
	}
}

// Do has a client, by its place in Options, do an operation. The result is what a get
// finds, and what a put puts. The error says that the context is over, and that the
// operation may or may not happen; or that the log is broken.
func (s *Store) Do(ctx context.Context, client int, o Op) (string, error) {
	s.mu.Lock()
	s.serial++
	// It begins with 1: comppaxos fills slots with commands of number 0.
	id := uint64(client+1)<<40 | s.serial
	s.mu.Unlock()
	name := s.o.Clients[client]
	if s.chosen < 0 {
		return s.ask(ctx, client, fmt.Sprint(id), []rt.Value{{Str: name}, {Num: id}, {Num: number(o.Value != "")}, {Str: o.Key}, {Str: o.Value}})
	}
	command := o.Command(fmt.Sprintf("%s.%d", name, id))
	if _, err := s.ask(ctx, client, command, []rt.Value{{Str: name}, {Str: command}}); err != nil {
		return "", err
	}
	return s.result(ctx, o, command)
}

func number(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// ask proposes, and answers the last column of the reply.
func (s *Store) ask(ctx context.Context, client int, key string, values []rt.Value) (string, error) {
	row, err := rt.AppendRow(nil, s.o.Program.Relations[s.propose].Columns, values)
	if err != nil {
		return "", err
	}
	relation, answer, err := s.callers[client].Do(ctx, key, s.propose, row)
	if err != nil {
		return "", err
	}
	v, err := rt.ReadRow(answer, s.o.Program.Relations[relation].Columns)
	if err != nil {
		return "", err
	}
	return v[len(v)-1].Str, nil
}

// result waits until a command is applied.
func (s *Store) result(ctx context.Context, o Op, command string) (string, error) {
	for {
		s.mu.Lock()
		before, ok := s.replica.Before(command)
		more, broken := s.applied, s.broken
		s.mu.Unlock()
		switch {
		case broken != nil:
			return "", broken
		case ok:
			return o.Result(before), nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// Resent is how often operations were asked for again.
func (s *Store) Resent() (n uint64) {
	for _, c := range s.callers {
		_, again := c.Calls()
		n += again
	}
	return n
}

// Err says whether a slot has two commands.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// Close ends all connections.
func (s *Store) Close() {
	for _, c := range s.callers {
		c.Close()
	}
	if s.log != nil {
		s.log.Close()
	}
}
