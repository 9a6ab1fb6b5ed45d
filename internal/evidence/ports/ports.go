// SPDX-License-Identifier: Apache-2.0

// Package ports finds addresses on loopback for processes that are about to be started.
//
// In: their number. Out: as many different addresses at which no process listens.
//
// Promised: their ports are below those that systems assign to processes that ask for any port, and to
// outgoing connections. A port of that range could be taken before the process uses it, which happens
// when many tests run concurrently.
//
// Refused: reserving the ports. Another process may take one of these; then the process that was to
// have it reports an error.
package ports

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// The ports that are tried, and the maximum number of attempts for one address.
const (
	first = 16 << 10
	last  = 32<<10 - 1
	tries = 1000
)

// Free finds n free addresses, as HOST:PORT. The error is that of the last attempt to
// listen.
func Free(n int) ([]string, error) {
	out := make([]string, 0, n)
	for range n {
		l, err := listen()
		if err != nil {
			return nil, err
		}
		defer l.Close() // not before all are found, so that none is found twice
		out = append(out, l.Addr().String())
	}
	return out, nil
}

func listen() (l net.Listener, err error) {
	for range tries {
		if l, err = net.Listen("tcp", fmt.Sprint("127.0.0.1:", first+rand.IntN(last-first+1))); err == nil {
			return l, nil
		}
	}
	return nil, err
}
