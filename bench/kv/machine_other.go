// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// Elsewhere than on Linux the benchmark runs, but measures time only.

func pin(int) error { return nil }

type usage struct {
	cpu           time.Duration
	written, read int64
}

func usageNow() usage                     { return usage{} }
func (u usage) since(usage) usage         { return usage{} }
func numberIn(string, string) int64       { return 0 }
func peakRSS() int64                      { return 0 }
func anonOf(int) int64                    { return 0 }
func allocated(info fs.FileInfo) int64    { return info.Size() }
func dropCache(string) error              { return nil }
func openDirect(string) (*os.File, error) { return nil, errors.ErrUnsupported }
func datasync(f *os.File) error           { return f.Sync() }
func pages(n int) ([]byte, error)         { return make([]byte, n), nil }
func cpuModel() string                    { return "" }
func loadAverage() string                 { return "unknown" }
func freeSpace(string) (int64, bool)      { return 0, false }
func libraryVersion(string) string        { return "" }
