// SPDX-License-Identifier: Apache-2.0

//go:build !etcd

package main

import "errors"

// etcdAbsent states why this build has no client of etcd: it is large, and nothing
// else needs it.
const etcdAbsent = "etcd's client is in builds with -tags etcd only"

func openEtcd(clientJob) (session, error) { return nil, errors.New(etcdAbsent) }
