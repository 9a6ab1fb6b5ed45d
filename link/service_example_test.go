// SPDX-License-Identifier: Apache-2.0

package link_test

import (
	"fmt"
	"sync"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/link"
)

// shout is a service: what is said comes back in capitals.
const (
	frameSay = link.Service + iota
	frameShout
)

type shouter struct{}

func (shouter) Up(*link.Conn)          {}
func (shouter) Down(*link.Conn, error) {}
func (shouter) Frame(c *link.Conn, t link.Type, payload []byte) error {
	if t != frameSay {
		return link.Malformed("shout", "type %v is not for a server", t)
	}
	b := link.Begin(nil, frameShout)
	for _, x := range payload {
		if 'a' <= x && x <= 'z' {
			x -= 'a' - 'A'
		}
		b = append(b, x)
	}
	c.Send(link.Seal(b, 0))
	return nil
}

type sayer struct {
	up    chan string
	heard chan string
}

func (s sayer) Up(peer *link.Hello) error {
	s.up <- peer.Node
	return nil
}
func (s sayer) Frame(_ link.Type, payload []byte) error {
	s.heard <- string(payload)
	return nil
}
func (sayer) Room()      {}
func (sayer) Down(error) {}

// A server and a client of a small service, which know a key.
func Example() {
	network := osenv.NewNetwork(osenv.NetworkOptions{})
	defer network.Close()
	options := func(node string) *link.Options {
		world := osenv.New()
		world.Network = network
		o, err := link.Options{Env: world, Service: "shout", System: "example", Node: node,
			Key: []byte("a random key of at least 16 bytes"), Lock: &sync.Mutex{}}.Complete()
		if err != nil {
			panic(err)
		}
		return &o
	}
	so, co := options("server"), options("client")
	server, err := link.NewServer(so, env.Addr("127.0.0.1:0"), shouter{})
	if err != nil {
		panic(err)
	}
	s := sayer{up: make(chan string, 10), heard: make(chan string, 10)}
	co.Lock.Lock()
	client := link.NewClient(co, link.Target{Addr: server.Addr(), Node: "server"}, s)
	co.Lock.Unlock()

	fmt.Println("connected to", <-s.up)
	co.Lock.Lock()
	err = client.Send(link.Seal(append(link.Begin(nil, frameSay), "hello"...), 0))
	co.Lock.Unlock()
	fmt.Println(err, <-s.heard)

	co.Lock.Lock()
	client.Close()
	co.Lock.Unlock()
	so.Lock.Lock()
	server.Shut()
	so.Lock.Unlock()
	fmt.Println(server.Close())
	// Output:
	// connected to server
	// <nil> HELLO
	// <nil>
}
