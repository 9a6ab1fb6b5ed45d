// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/internal/cli/dedalus/machines"
	"github.com/ashlar-dev/ashlar/internal/dedalus/cost"
)

const (
	// framesOfCalibration is the number of writes with many messages, and
	// messagesOfFrame the number of messages in each, as on a busy node.
	framesOfCalibration = 4000
	messagesOfFrame     = 32
	smallMessage        = 32
	largeMessage        = 1024
)

// calibrateMessages measures sending and receiving over a local connection.
func calibrateMessages(ctx context.Context, c *cost.Calibration) error {
	sendSmall, receiveSmall, err := messageCosts(ctx, smallMessage)
	if err != nil {
		return err
	}
	sendLarge, receiveLarge, err := messageCosts(ctx, largeMessage)
	if err != nil {
		return err
	}
	slope := func(small, large float64) (message, each float64) {
		each = max(0, (large-small)/(largeMessage-smallMessage))
		return max(0.001, small-each*smallMessage), each
	}
	c.Send, c.SendByte = slope(sendSmall, sendLarge)
	c.Receive, c.ReceiveByte = slope(receiveSmall, receiveLarge)
	return nil
}

// messageCosts measures the microseconds per message of the given size at both ends.
// It takes the minimum of three runs, because other processes may use the machine.
func messageCosts(ctx context.Context, size int) (send, receive float64, err error) {
	for range 3 {
		s, r, err := exchange(ctx, size)
		if err != nil {
			return 0, 0, err
		}
		if send == 0 || s+r < send+receive {
			send, receive = s, r
		}
	}
	return send, receive, nil
}

func exchange(ctx context.Context, size int) (send, receive float64, err error) {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, 0, fmt.Errorf("measure messages: %w", err)
	}
	defer l.Close()
	type end struct {
		spent time.Duration
		err   error
	}
	received := make(chan end, 1)
	go func() {
		spent, err := receiveAll(l, size)
		received <- end{spent, err}
	}()
	var dial net.Dialer
	conn, err := dial.DialContext(ctx, "tcp", l.Addr().String())
	if err != nil {
		l.Close()
		return 0, 0, errors.Join(fmt.Errorf("measure messages: %w", err), (<-received).err)
	}
	spent, err := sendAll(conn, size)
	err = errors.Join(err, conn.Close())
	r := <-received
	if err = errors.Join(err, r.err); err != nil {
		return 0, 0, fmt.Errorf("measure messages: %w", err)
	}
	const messages = framesOfCalibration * messagesOfFrame
	return float64(spent) / 1e3 / messages, float64(r.spent) / 1e3 / messages, nil
}

// sendAll writes frames of messages, each preceded by its length.
func sendAll(conn net.Conn, size int) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	row := make([]byte, size)
	begin := machines.Time()
	var frame []byte
	for range framesOfCalibration {
		frame = frame[:0]
		for range messagesOfFrame {
			frame = append(frame, byte(size>>8), byte(size))
			frame = append(frame, row...)
		}
		if _, err := conn.Write(frame); err != nil {
			return 0, err
		}
	}
	return machines.Time() - begin, nil
}

// receiveAll reads all frames and splits them into messages, which it retains for a
// while, as a tick does.
func receiveAll(l net.Listener, size int) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	conn, err := l.Accept()
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	begin := machines.Time()
	buffer := make([]byte, 64<<10)
	have, messages := 0, 0
	var tick [][]byte
	for {
		n, err := conn.Read(buffer[have:])
		have += n
		at := 0
		for have-at >= 2 && have-at >= 2+(int(buffer[at])<<8|int(buffer[at+1])) {
			end := at + 2 + (int(buffer[at])<<8 | int(buffer[at+1]))
			tick = append(tick, slices.Clone(buffer[at+2:end]))
			at = end
		}
		messages += len(tick)
		tick = tick[:0]
		have = copy(buffer, buffer[at:have])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
	}
	if messages != framesOfCalibration*messagesOfFrame {
		return 0, fmt.Errorf("%d messages came, %d were sent", messages, framesOfCalibration*messagesOfFrame)
	}
	return machines.Time() - begin, nil
}

const (
	syncsOfCalibration = 40
	rowsOfSync         = 64
	rowOfLog           = 64
)

// calibrateDisk measures appends and syncs of a file on the disk of this
// folder.
func calibrateDisk(c *cost.Calibration) error {
	dir, err := os.MkdirTemp(".", ".ashlar-calibrate-")
	if err != nil {
		return fmt.Errorf("measure the disk: %w", err)
	}
	defer os.RemoveAll(dir)
	f, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("measure the disk: %w", err)
	}
	defer f.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var writing, syncing, waited []float64
	for range syncsOfCalibration {
		begin := machines.Time()
		var record []byte
		for range rowsOfSync {
			record = append(record, make([]byte, rowOfLog)...)
		}
		if _, err := f.Write(record); err != nil {
			return fmt.Errorf("measure the disk: %w", err)
		}
		written, clock := machines.Time(), time.Now()
		if err := f.Sync(); err != nil {
			return fmt.Errorf("measure the disk: %w", err)
		}
		writing = append(writing, float64(written-begin)/1e3)
		syncing = append(syncing, float64(machines.Time()-written)/1e3)
		waited = append(waited, float64(time.Since(clock))/1e3)
	}
	c.Row = median(writing) / rowsOfSync
	c.RowByte = 0
	c.SyncCPU, c.Sync = median(syncing), median(waited)
	return nil
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
