// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// Hardware makes the work of nodes take time, so that a World measures what as many
// machines would do: a node is busy for as long as its code ran, what it sends leaves
// when it has got that far, and what arrives meanwhile waits. Its costs are constants
// because the calls of the operating system that they stand for do not happen here.
type Hardware struct {
	// Spent returns the processor time that the thread of the World has used. A test
	// may count something else.
	Spent func() time.Duration
	// Look is what a call of Spent itself adds to its result.
	Look time.Duration
	// Write and Read are for a system call that sends or receives on a connection, and
	// KB for each 1,024 bytes, on either side. Writes to one connection in one event are
	// one call, and so are reads of all that has arrived.
	Write, Read, KB time.Duration
	// Bandwidth is what a node's network interface sends, in bytes a second; 0: no limit.
	Bandwidth int64
	// Sync is how long a disk takes to make something durable. Other disk operations
	// take no time.
	Sync time.Duration
	// Ideal names nodes whose work takes no time, as clients.
	Ideal []string
}

// Usage is what a node's work took. All of it is summed over its lives.
type Usage struct {
	// Code is the time of its own code, Calls that of system calls on connections.
	Code, Calls time.Duration
	// Disk is the time in which it waited for its disk.
	Disk time.Duration
	// Reads and Writes are system calls on connections.
	Reads, Writes uint64
	// Received and Sent are bytes on connections.
	Received, Sent uint64
}

// CPU is the processor time.
func (u Usage) CPU() time.Duration { return u.Code + u.Calls }

// Minus is the usage since an earlier one.
func (u Usage) Minus(v Usage) Usage {
	return Usage{u.Code - v.Code, u.Calls - v.Calls, u.Disk - v.Disk, u.Reads - v.Reads, u.Writes - v.Writes, u.Received - v.Received, u.Sent - v.Sent}
}

// Usage is what the node's work took until now: nothing without Options.Hardware.
func (n *Node) Usage() Usage { return n.usage }

// metered reports whether what the life does takes time.
func (l *Life) metered() bool { return l.node.metered }

func (w *World) meters(name string) bool {
	return w.opt.Hardware != nil && !slices.Contains(w.opt.Hardware.Ideal, name)
}

// resume begins, or goes on, to measure the life's code: what follows is code of the
// node.
func (l *Life) resume() {
	if w := l.node.w; l.metered() {
		w.metering, w.since = l, w.opt.Hardware.Spent()
	}
}

// suspend makes the life busy for as long as its code ran since resume: what follows is
// code of the World. It reports whether the code was being measured.
func (l *Life) suspend() bool {
	w := l.node.w
	if w.metering == nil || w.metering != l {
		return false
	}
	w.metering = nil
	d := max(w.opt.Hardware.Spent()-w.since-w.opt.Hardware.Look, 0)
	l.node.usage.Code += d
	l.spend(d)
	return true
}

// call makes the life busy for a system call that moves n bytes; again: the bytes belong
// to an earlier call.
func (l *Life) call(cost time.Duration, n int, again bool) {
	if again {
		cost = 0
	}
	d := cost + time.Duration(n)*l.node.w.opt.Hardware.KB/1024
	l.node.usage.Calls += d
	l.spend(d)
}

// wrote accounts for a write of n bytes to the end.
func (e *end) wrote(n int) {
	w, u := e.life.node.w, &e.life.node.usage
	again := e.written == w.done
	e.written = w.done
	u.Sent += uint64(n)
	if !again {
		u.Writes++
	}
	e.life.call(w.opt.Hardware.Write, n, again)
}

// gather returns how many bytes a read takes that finds n and all that has arrived
// after them, and accounts for it.
func (e *end) gather(n int) int {
	w, u := e.life.node.w, &e.life.node.usage
	for i := range e.inbox {
		if it := &e.inbox[i]; it.what != data || it.due > w.now || it.n > readMost-n {
			break
		}
		n += e.inbox[i].n
		e.inbox[i].n = 0 // its event finds nothing to do
	}
	u.Reads++
	u.Received += uint64(n)
	e.life.call(w.opt.Hardware.Read, n, false)
	return n
}

// readMost is how much a node reads at once.
const readMost = 64 << 10

// leaves returns when the last of n bytes that are sent now has left the node.
func (n *Node) leaves(now env.Instant, bytes int) env.Instant {
	h := n.w.opt.Hardware
	if h == nil || h.Bandwidth <= 0 || bytes == 0 {
		return now
	}
	n.nic = max(n.nic, now).Add(time.Duration(int64(bytes) * int64(time.Second) / h.Bandwidth))
	return n.nic
}

// wait is how long a disk operation takes under Hardware.
func (h *Hardware) wait(k evKind) time.Duration {
	if k == evSync {
		return h.Sync
	}
	return 0
}
