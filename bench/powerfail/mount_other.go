// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"errors"
	"runtime"
)

type mount struct{}

func mountDisk(*disk, string) (*mount, error) {
	return nil, errors.New("disks are mounted on Linux only, not on " + runtime.GOOS)
}

func (*mount) unmount() error { return nil }
