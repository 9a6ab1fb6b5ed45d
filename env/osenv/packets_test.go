// SPDX-License-Identifier: Apache-2.0

package osenv_test

import (
	"bytes"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
)

func TestPacketsGoThereAndBack(t *testing.T) {
	var echo env.Port
	ready := make(chan struct{})
	echo, err := osenv.Packets{}.Bind(":0", func(from env.Addr, b []byte) {
		<-ready
		if err := echo.Send(from, b); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	close(ready)
	defer echo.Close()
	for _, size := range []int{0, 1, env.PacketMax} {
		want := bytes.Repeat([]byte{7}, size)
		var back atomic.Int32
		p, err := osenv.Packets{}.Bind(":0", func(from env.Addr, b []byte) {
			if from != echo.Addr() || !bytes.Equal(b, want) {
				t.Errorf("%d bytes from %s, want %d from %s", len(b), from, size, echo.Addr())
			}
			back.Add(1)
		})
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool {
			if err := p.Send(echo.Addr(), want); err != nil {
				t.Fatal(err)
			}
			return back.Load() > 0
		})
		if err := p.Send("127.0.0.1:9", nil); err != nil {
			t.Errorf("to nobody: %v", err)
		}
		if err := p.Send(echo.Addr(), make([]byte, env.PacketMax+1)); !errors.Is(err, env.ErrTooLong) {
			t.Errorf("a packet that is too long: %v", err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := p.Send(echo.Addr(), nil); !errors.Is(err, env.ErrClosed) {
			t.Errorf("from a closed port: %v", err)
		}
	}
	if _, err := (osenv.Packets{}).Bind(echo.Addr(), func(env.Addr, []byte) {}); err == nil {
		t.Error("an address is bound twice")
	}
}
