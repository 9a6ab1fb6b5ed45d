// SPDX-License-Identifier: Apache-2.0

//go:build etcd

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const etcdAbsent = ""

// etcdSession is etcd by its Go client. All clients of a process share one, which
// spreads calls over the three servers, as is usual.
type etcdSession struct {
	job    clientJob
	client *clientv3.Client
	values [][]byte
	last   []int64 // by client: revision of its last append
}

func openEtcd(job clientJob) (session, error) {
	c, err := dialEtcd(job)
	if err != nil {
		return nil, err
	}
	s := &etcdSession{job: job, client: c, last: make([]int64, job.Clients)}
	for range job.Clients {
		s.values = append(s.values, make([]byte, job.Value))
	}
	return s, nil
}

func dialEtcd(job clientJob) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: job.Where.Endpoints, DialTimeout: 5 * time.Second})
}

func (s *etcdSession) close() { _ = s.client.Close() }

func (s *etcdSession) prefix(client int) string {
	return fmt.Sprintf("%04d/%05d/", s.job.Phase, s.job.First+client)
}

func (s *etcdSession) key(client, seq int) string {
	return fmt.Sprintf("%s%09d", s.prefix(client), seq)
}

func (s *etcdSession) prepare(ctx context.Context) error {
	if s.job.Op != "read" {
		_, err := s.client.Get(ctx, "nothing") // there is a leader
		return err
	}
	for seq := range decided {
		if _, err := s.client.Put(ctx, s.key(0, seq), string(fill(s.values[0], 0, seq))); err != nil {
			return err
		}
	}
	return nil
}

func (s *etcdSession) do(ctx context.Context, client, seq int) error {
	switch s.job.Op {
	case "read":
		at := spread(client, seq)
		r, err := s.client.Get(ctx, s.key(0, at))
		if err != nil {
			return err
		}
		if len(r.Kvs) != 1 {
			return fmt.Errorf("%d values", len(r.Kvs))
		}
		return checkValue(r.Kvs[0].Value, s.job.Value, 0, at)
	case "once":
		key := s.key(client, seq)
		r, err := s.client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
			Then(clientv3.OpPut(key, string(fill(s.values[client], client, seq)))).Commit()
		if err == nil && !r.Succeeded {
			err = errors.New("the key is there")
		}
		return err
	}
	r, err := s.client.Put(ctx, s.key(client, seq), string(fill(s.values[client], client, seq)))
	if err != nil {
		return err
	}
	if r.Header.Revision <= s.last[client] {
		return fmt.Errorf("revision %d after %d", r.Header.Revision, s.last[client])
	}
	s.last[client] = r.Header.Revision
	return nil
}

func (s *etcdSession) verify(ctx context.Context, done []int) error {
	if s.job.Op == "read" {
		return nil // asserted one by one
	}
	c, err := dialEtcd(s.job)
	if err != nil {
		return err
	}
	defer c.Close()
	for client, n := range done {
		seq, from, end := 0, s.prefix(client), clientv3.GetPrefixRangeEnd(s.prefix(client))
		for more := true; more; {
			r, err := c.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(chunk))
			if err != nil {
				return err
			}
			for _, kv := range r.Kvs {
				if string(kv.Key) != s.key(client, seq) {
					return fmt.Errorf("found %s, want %s", kv.Key, s.key(client, seq))
				}
				if err := checkValue(kv.Value, s.job.Value, client, seq); err != nil {
					return err
				}
				from = string(kv.Key) + "\x00"
				seq++
			}
			more = r.More
		}
		if seq != n {
			return fmt.Errorf("client %d: %d keys, want %d", client, seq, n)
		}
	}
	return nil
}
