// SPDX-License-Identifier: Apache-2.0

package log

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Handed is the registers that a sequencer's answer hands out.
func Handed(id ID, answer []byte) (wor.Range, bool) {
	s, ok := decodeSaid(id, answer)
	if !ok || s.token == nil {
		return wor.Range{}, false
	}
	return s.token.Range, true
}

// SetCompleteMax changes completeMax, until restore is called.
func SetCompleteMax(n uint32) (restore func()) {
	old := completeMax
	completeMax = n
	return func() { completeMax = old }
}

// Describe describes what a Log waits for, for the messages of tests.
func (l *Log) Describe() string {
	a, s := &l.appender, &l.seat
	return fmt.Sprintf("waiting %d, asking %d, delayed %v, open %d, doubts %d; top %d, sure %v, looking %v, strikes %d, waiters %d",
		len(a.waiting), len(a.asks), a.delayed, len(a.open.open), len(a.doubts), s.top, s.sure, s.looking, s.strikes, len(s.waiters))
}

// AskToken is a request for addresses by a client that never reports anything settled.
func AskToken(id ID, index int64, count uint32) []byte {
	return ask{verb: verbToken, log: id, index: index, count: count, client: 99}.encode()
}

// TokenOf is the token in a sequencer's answer, nil if there is none.
func TokenOf(id ID, answer []byte) *wor.Token {
	s, _ := decodeSaid(id, answer)
	return s.token
}
