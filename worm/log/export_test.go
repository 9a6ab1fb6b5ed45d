package log

import "fmt"

// Describe is what a Log waits for, for the messages of tests.
func (l *Log) Describe() string {
	a, s := &l.appender, &l.seat
	return fmt.Sprintf("waiting %d, asking %d, delayed %v, open %d, doubts %d; top %d, sure %v, looking %v, strikes %d, waiters %d",
		len(a.waiting), len(a.asks), a.delayed, len(a.open.open), len(a.doubts), s.top, s.sure, s.looking, s.strikes, len(s.waiters))
}
