// SPDX-License-Identifier: Apache-2.0

package resp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// plan is the execution plan of a command: its operations, and a function that
// writes the reply from their results.
type plan struct {
	ops  []Op
	tell func(w *writer, r []Result)
}

// said returns a plan without operations: the reply needs nothing from the
// Store.
func said(tell func(w *writer)) (*plan, string) {
	return &plan{tell: func(w *writer, _ []Result) { tell(w) }}, ""
}

// command is a row of the command table: the minimum and maximum number of
// arguments, the command's name included (max -1 means no maximum), and the
// function that makes the plan. If that function returns a text, it is an error
// in Redis' form.
type command struct {
	min, max int
	make     func(c *Conn, args [][]byte) (*plan, string)
}

// commands looks up the commands that are also permitted inside MULTI.
func commands(name string) (command, bool) {
	switch name {
	case "GET":
		return command{2, 2, func(_ *Conn, a [][]byte) (*plan, string) { return read(a[1:], false) }}, true
	case "MGET":
		return command{2, -1, func(_ *Conn, a [][]byte) (*plan, string) { return read(a[1:], true) }}, true
	case "EXISTS":
		return command{2, -1, exists}, true
	case "STRLEN":
		return command{2, 2, func(_ *Conn, a [][]byte) (*plan, string) {
			return &plan{[]Op{{Kind: Get, Key: string(a[1])}}, func(w *writer, r []Result) { w.int(int64(len(r[0].Value))) }}, ""
		}}, true
	case "TYPE":
		return command{2, 2, typeOf}, true
	case "TTL", "PTTL":
		return command{2, 2, ttl}, true
	case "SET":
		return command{3, -1, set}, true
	case "SETNX":
		return command{3, 3, func(_ *Conn, a [][]byte) (*plan, string) {
			return &plan{[]Op{{Kind: Set, When: IfAbsent, Key: string(a[1]), Value: a[2]}}, func(w *writer, r []Result) { w.int(one(r[0].Done)) }}, ""
		}}, true
	case "GETSET":
		return command{3, 3, func(_ *Conn, a [][]byte) (*plan, string) {
			return &plan{[]Op{{Kind: Get, Key: string(a[1])}, {Kind: Set, Key: string(a[1]), Value: a[2]}}, first}, ""
		}}, true
	case "GETDEL":
		return command{2, 2, func(_ *Conn, a [][]byte) (*plan, string) {
			return &plan{[]Op{{Kind: Get, Key: string(a[1])}, {Kind: Delete, Key: string(a[1])}}, first}, ""
		}}, true
	case "MSET":
		return command{3, -1, mset}, true
	case "DEL", "UNLINK":
		return command{2, -1, del}, true
	case "APPEND":
		return command{3, 3, func(_ *Conn, a [][]byte) (*plan, string) {
			return &plan{[]Op{{Kind: Append, Key: string(a[1]), Value: a[2]}}, sum}, ""
		}}, true
	case "INCR", "DECR":
		return command{2, 2, func(_ *Conn, a [][]byte) (*plan, string) { return incr(a[1], "1", name == "DECR") }}, true
	case "INCRBY", "DECRBY":
		return command{3, 3, func(_ *Conn, a [][]byte) (*plan, string) { return incr(a[1], string(a[2]), name == "DECRBY") }}, true
	}
	return others(name)
}

// others looks up the commands that have no keys.
func others(name string) (command, bool) {
	switch name {
	case "PING":
		return command{1, 2, func(_ *Conn, a [][]byte) (*plan, string) {
			return said(func(w *writer) {
				if len(a) == 2 {
					w.bulk(a[1])
				} else {
					w.simple("PONG")
				}
			})
		}}, true
	case "ECHO":
		return command{2, 2, func(_ *Conn, a [][]byte) (*plan, string) { return said(func(w *writer) { w.bulk(a[1]) }) }}, true
	case "SELECT":
		return command{2, 2, func(_ *Conn, a [][]byte) (*plan, string) {
			if string(a[1]) != "0" {
				return nil, "ERR DB index is out of range: the only database is 0"
			}
			return said((*writer).ok)
		}}, true
	case "COMMAND":
		return command{1, -1, func(_ *Conn, a [][]byte) (*plan, string) {
			return said(func(w *writer) {
				if len(a) > 1 && strings.EqualFold(string(a[1]), "COUNT") {
					w.int(0)
				} else {
					w.array(0)
				}
			})
		}}, true
	case "CONFIG":
		return command{2, -1, config}, true
	case "CLIENT":
		return command{2, -1, client}, true
	case "INFO":
		return command{1, -1, info}, true
	case "DBSIZE":
		return command{1, 1, func(_ *Conn, _ [][]byte) (*plan, string) {
			return &plan{[]Op{{Kind: Count}}, func(w *writer, r []Result) {
				if r[0].Failure != None {
					w.error("ERR the keys could not be counted: some partitions cannot be reached")
				} else {
					w.int(r[0].Number)
				}
			}}, ""
		}}, true
	}
	return command{}, false
}

// info makes the plan for INFO. If the keys cannot be counted, the reply omits
// their number.
func info(_ *Conn, a [][]byte) (*plan, string) {
	asked := func(sections ...string) bool {
		return len(a) == 1 || slices.ContainsFunc(a[1:], func(s []byte) bool {
			return slices.Contains(sections, strings.ToLower(string(s)))
		})
	}
	text := ""
	if asked("server", "default", "all", "everything") {
		text = fmt.Sprintf("# Server\r\nredis_version:%s\r\nredis_mode:standalone\r\nserver_name:ashlard\r\n", version)
	}
	if !asked("keyspace", "default", "all", "everything") {
		return said(func(w *writer) { w.text(text) })
	}
	return &plan{[]Op{{Kind: Count}}, func(w *writer, r []Result) {
		text += "# Keyspace\r\n"
		if r[0].Failure == None {
			text += fmt.Sprintf("db0:keys=%d,expires=0\r\n", r[0].Number)
		}
		w.text(text)
	}}, ""
}

// version is the version of Redis whose commands this package imitates.
const version = "7.0.0"

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func first(w *writer, r []Result) { w.value(&r[0]) }

// sum writes the reply of an Incr or Append.
func sum(w *writer, r []Result) {
	switch r[0].Failure {
	case None:
		w.int(r[0].Number)
	case NotInteger:
		w.error("ERR value is not an integer or out of range")
	case Overflow:
		w.error("ERR increment or decrement would overflow")
	default:
		w.error("ERR string exceeds maximum allowed size")
	}
}

func read(keys [][]byte, many bool) (*plan, string) {
	p := &plan{}
	for _, k := range keys {
		p.ops = append(p.ops, Op{Kind: Get, Key: string(k)})
	}
	p.tell = func(w *writer, r []Result) {
		if many {
			w.array(len(r))
		}
		for i := range r {
			w.value(&r[i])
		}
	}
	return p, ""
}

func exists(_ *Conn, a [][]byte) (*plan, string) {
	p, _ := read(a[1:], true)
	p.tell = countFound
	return p, ""
}

func countFound(w *writer, r []Result) {
	n := int64(0)
	for i := range r {
		n += one(r[i].Found)
	}
	w.int(n)
}

func typeOf(_ *Conn, a [][]byte) (*plan, string) {
	p, _ := read(a[1:], true)
	p.tell = func(w *writer, r []Result) {
		if r[0].Found {
			w.simple("string")
		} else {
			w.simple("none")
		}
	}
	return p, ""
}

func ttl(_ *Conn, a [][]byte) (*plan, string) {
	p, _ := read(a[1:], true)
	p.tell = func(w *writer, r []Result) { w.int(one(r[0].Found) - 2) } // -1: never expires, -2: absent
	return p, ""
}

func del(_ *Conn, a [][]byte) (*plan, string) {
	p := &plan{tell: countFound}
	for _, k := range a[1:] {
		p.ops = append(p.ops, Op{Kind: Delete, Key: string(k)})
	}
	return p, ""
}

func mset(_ *Conn, a [][]byte) (*plan, string) {
	if len(a)%2 == 0 {
		return nil, wrongArgs("mset")
	}
	p := &plan{tell: func(w *writer, _ []Result) { w.ok() }}
	for i := 1; i < len(a); i += 2 {
		p.ops = append(p.ops, Op{Kind: Set, Key: string(a[i]), Value: a[i+1]})
	}
	return p, ""
}

func incr(key []byte, by string, down bool) (*plan, string) {
	n, err := strconv.ParseInt(by, 10, 64)
	if err != nil || down && n == -1<<63 {
		return nil, "ERR value is not an integer or out of range"
	}
	if down {
		n = -n
	}
	return &plan{[]Op{{Kind: Incr, Key: string(key), Delta: n}}, sum}, ""
}

func set(_ *Conn, a [][]byte) (*plan, string) {
	o := Op{Kind: Set, Key: string(a[1]), Value: a[2]}
	old := false
	for _, x := range a[3:] {
		switch strings.ToUpper(string(x)) {
		case "NX":
			if o.When == IfPresent {
				return nil, "ERR syntax error: NX and XX exclude each other"
			}
			o.When = IfAbsent
		case "XX":
			if o.When == IfAbsent {
				return nil, "ERR syntax error: NX and XX exclude each other"
			}
			o.When = IfPresent
		case "GET":
			old = true
		case "EX", "PX", "EXAT", "PXAT", "KEEPTTL":
			return nil, "ERR expiry is not supported: " + strings.ToUpper(string(x))
		default:
			return nil, "ERR syntax error in 'set' at '" + printable(x) + "'"
		}
	}
	if old {
		return &plan{[]Op{{Kind: Get, Key: o.Key}, o}, first}, ""
	}
	return &plan{[]Op{o}, func(w *writer, r []Result) {
		if r[0].Done {
			w.ok()
		} else {
			w.null()
		}
	}}, ""
}

// config answers the CONFIG queries that redis-benchmark sends.
func config(_ *Conn, a [][]byte) (*plan, string) {
	if !strings.EqualFold(string(a[1]), "GET") || len(a) < 3 {
		return nil, "ERR only CONFIG GET is supported"
	}
	known := [][2]string{{"appendonly", "yes"}, {"appendfsync", "always"}, {"databases", "1"}, {"save", ""}}
	var found [][2]string
	for _, kv := range known {
		if slices.ContainsFunc(a[2:], func(p []byte) bool { return string(p) == "*" || strings.EqualFold(string(p), kv[0]) }) {
			found = append(found, kv)
		}
	}
	return said(func(w *writer) {
		w.pairs(len(found))
		for _, kv := range found {
			w.text(kv[0])
			w.text(kv[1])
		}
	})
}

func client(_ *Conn, a [][]byte) (*plan, string) {
	switch sub := strings.ToUpper(string(a[1])); sub {
	case "SETINFO", "SETNAME", "NO-EVICT", "NO-TOUCH":
		return said((*writer).ok)
	case "GETNAME":
		return said((*writer).null)
	case "ID":
		return said(func(w *writer) { w.int(1) })
	default:
		return nil, "ERR CLIENT " + printable(a[1]) + " is not supported"
	}
}

func wrongArgs(name string) string {
	return "ERR wrong number of arguments for '" + strings.ToLower(name) + "' command"
}

// printable returns a short printable form of a client's input, for an error
// text.
func printable(b []byte) string {
	s := strconv.QuoteToASCII(string(b[:min(len(b), 64)]))
	return s[1 : len(s)-1]
}
