// SPDX-License-Identifier: Apache-2.0

//go:build !etcd

package main

import "errors"

func startEtcd(options) (engine, error) {
	return nil, errors.New("etcd's client is in builds with -tags etcd only")
}
