// SPDX-License-Identifier: Apache-2.0

// Package model repeats in Go the models of the primitives, proofs/trusted/disk.v and
// filesys.v, as specifications against which internal/evidence/crashtest checks
// histories. Each rule names the Coq rule that it repeats. Only tests use it.
package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/evidence/crashtest"
)

// Disk is disk_step: what crashtest.Atomic says of accesses to one block.
// A crash of the machine leaves the disk as it is (dev_crash).
func Disk(blocks int) crashtest.Spec[[]uint64, crashtest.Access, []uint64] {
	return crashtest.Atomic(blocks)
}

// TwoState is two_disk.
type TwoState struct {
	Disks  [2][]uint64
	Failed int // -1: none
}

// TwoOp is TwoRead, TwoWrite and TwoSize. Write says which of the first two it
// is, Size that it is the third.
type TwoOp struct {
	Write, Size bool
	Which       int
	Addr        uint64
	Number      uint64
}

// TwoRet is the result of a TwoOp: the number of the block, whether the disk
// works, and the size.
type TwoRet struct {
	Number uint64
	OK     bool
	Size   uint64
}

// fail is td_fail: the states in which an access may find the disks.
func (s TwoState) fail(which int) []TwoState {
	states := []TwoState{s} // TdStay
	if s.Failed < 0 {       // TdFail
		s.Failed = which
		states = append(states, s)
	}
	return states
}

// Two is two_step. A crash changes nothing, the failure included.
func Two(blocks int) crashtest.Spec[TwoState, TwoOp, TwoRet] {
	return crashtest.Spec[TwoState, TwoOp, TwoRet]{
		Init: TwoState{Disks: [2][]uint64{make([]uint64, blocks), make([]uint64, blocks)}, Failed: -1},
		Step: func(s TwoState, o TwoOp, ret *TwoRet) []TwoState {
			is := func(want TwoRet) bool { return ret == nil || *ret == want }
			if o.Size { // TwoSizeS
				if is(TwoRet{Size: uint64(len(s.Disks[0]))}) {
					return []TwoState{s}
				}
				return nil
			}
			var after []TwoState
			for _, t := range s.fail(o.Which) {
				lives := t.Failed != o.Which
				switch {
				case o.Write && lives: // TwoWriteS
					d := slices.Clone(t.Disks[o.Which])
					d[o.Addr] = o.Number
					t.Disks[o.Which] = d
					after = append(after, t)
				case o.Write: // TwoWriteFailedS
					after = append(after, t)
				case lives && is(TwoRet{Number: t.Disks[o.Which][o.Addr], OK: true}): // TwoReadS
					after = append(after, t)
				case !lives && is(TwoRet{}): // TwoReadFailedS: the block is zero
					after = append(after, t)
				}
			}
			return after
		},
		Key: func(s TwoState) string { return fmt.Sprint(s) },
	}
}

// AsyncBlock is cached: the latest content, and what else a crash may leave.
type AsyncBlock struct {
	Latest uint64
	Older  []uint64
}

// AsyncOp is a crashtest.Access of one block, or a barrier.
type AsyncOp struct {
	Barrier bool
	crashtest.Access
}

// String is the operation in few words.
func (o AsyncOp) String() string {
	if o.Barrier {
		return "barrier"
	}
	return o.Access.String()
}

// Async is async_step and async_crash.
func Async(blocks int) crashtest.Spec[[]AsyncBlock, AsyncOp, []uint64] {
	return crashtest.Spec[[]AsyncBlock, AsyncOp, []uint64]{
		Init:  make([]AsyncBlock, blocks),
		Step:  asyncStep,
		Crash: func(s []AsyncBlock, _ []AsyncOp) [][]AsyncBlock { return asyncCrash(s) },
		Key: func(s []AsyncBlock) string {
			var b strings.Builder
			for _, x := range s {
				older := slices.Clone(x.Older)
				slices.Sort(older)
				fmt.Fprint(&b, x.Latest, slices.Compact(older))
			}
			return b.String()
		},
	}
}

func asyncStep(s []AsyncBlock, o AsyncOp, ret *[]uint64) [][]AsyncBlock {
	if !o.Barrier && !o.Write { // AsyncReadS
		if ret != nil && !slices.Equal(*ret, []uint64{s[o.Addrs[0]].Latest}) {
			return nil
		}
		return [][]AsyncBlock{s}
	}
	s = slices.Clone(s)
	if o.Barrier { // AsyncBarrierS
		for a := range s {
			s[a].Older = nil
		}
	} else { // AsyncWriteS
		b := &s[o.Addrs[0]]
		*b = AsyncBlock{o.Numbers[0], append([]uint64{b.Latest}, b.Older...)}
	}
	return [][]AsyncBlock{s}
}

// asyncCrash: each block independently has one of its possible contents.
func asyncCrash(s []AsyncBlock) [][]AsyncBlock {
	left := [][]AsyncBlock{nil}
	for _, b := range s {
		var next [][]AsyncBlock
		for _, number := range append([]uint64{b.Latest}, b.Older...) {
			for _, before := range left {
				next = append(next, append(slices.Clone(before), AsyncBlock{Latest: number}))
			}
		}
		left = next
	}
	return left
}
