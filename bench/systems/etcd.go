// SPDX-License-Identifier: Apache-2.0

//go:build etcd

package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/ashlar-dev/ashlar/bench/process"
)

// etcd is three servers of etcd, with one Go client for each, as RaftKV has
// connections to each.
type etcd struct {
	all     []*process.Child
	clients []*clientv3.Client
}

func startEtcd(o options) (_ engine, err error) {
	path, err := exec.LookPath("etcd")
	if err != nil {
		return nil, fmt.Errorf("%w (Debian: etcd-server)", err)
	}
	free, err := ports(2 * servers)
	if err != nil {
		return nil, err
	}
	e := &etcd{}
	defer func() {
		if err != nil {
			e.end()
		}
	}()
	var peers []string
	for i := range servers {
		peers = append(peers, fmt.Sprint("n", i, "=http://", free[i]))
	}
	for i := range servers {
		name := fmt.Sprint("n", i)
		cmd := exec.Command(path, "--name", name, "--data-dir", filepath.Join(o.dir, name),
			"--listen-peer-urls", "http://"+free[i], "--initial-advertise-peer-urls", "http://"+free[i],
			"--listen-client-urls", "http://"+free[servers+i], "--advertise-client-urls", "http://"+free[servers+i],
			"--initial-cluster", strings.Join(peers, ","), "--initial-cluster-state", "new",
			"--initial-cluster-token", filepath.Base(o.dir), "--logger", "zap", "--log-level", "error",
			"--quota-backend-bytes", fmt.Sprint(int64(8)<<30))
		cmd.Dir = o.dir
		c, err := process.Start("etcd "+name, cmd, false)
		if err != nil {
			return nil, err
		}
		e.all = append(e.all, c)
	}
	for i := range servers {
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{free[servers+i]}, DialTimeout: answerWithin})
		if err != nil {
			return nil, err
		}
		e.clients = append(e.clients, c)
		ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
		for {
			if _, err = c.Get(ctx, "nothing"); err == nil || ctx.Err() != nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
		if err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (e *etcd) name() string               { return "etcd" }
func (e *etcd) children() []*process.Child { return e.all }

func (e *etcd) end() {
	for _, c := range e.clients {
		_ = c.Close()
	}
	for _, c := range e.all {
		c.End()
	}
}

func (e *etcd) connect(n int) (client, error) { return etcdClient{e.clients[n%servers]}, nil }

type etcdClient struct{ c *clientv3.Client }

func (etcdClient) close() {}

func (c etcdClient) put(ctx context.Context, key, value string) error {
	_, err := c.c.Put(ctx, key, value)
	return err
}

func (c etcdClient) get(ctx context.Context, key string) (string, bool, error) {
	r, err := c.c.Get(ctx, key)
	if err != nil || len(r.Kvs) == 0 {
		return "", false, err
	}
	return string(r.Kvs[0].Value), true, nil
}
