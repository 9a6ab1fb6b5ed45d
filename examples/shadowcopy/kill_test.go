package shadowcopy_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/examples/shadowcopy"
	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
)

// The test's binary is also the program that is killed: with this variable set
// it writes pairs to the disk of that path, until it is killed.
const killChildVar = "ASHLAR_SHADOWCOPY_CHILD"

const killWriters = 3

func TestMain(m *testing.M) {
	if path := os.Getenv(killChildVar); path != "" {
		fmt.Fprintln(os.Stderr, killChild(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// stamp says which write a block is of: the writer, and its how manyeth write.
type stamp struct{ life, writer, n uint64 }

func (s stamp) block() []byte {
	b := make([]byte, 0, disk.BlockSize)
	for len(b) < disk.BlockSize {
		b = binary.LittleEndian.AppendUint64(b, s.life)
		b = binary.LittleEndian.AppendUint64(b, s.writer)
		b = binary.LittleEndian.AppendUint64(b, s.n)
	}
	return b[:disk.BlockSize]
}

// stampOf refuses blocks that are not of one write.
func stampOf(a, b []byte) (stamp, error) {
	s := stamp{binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(a[8:]), binary.LittleEndian.Uint64(a[16:])}
	want := s.block()
	if !bytes.Equal(a, want) || !bytes.Equal(b, want) {
		return s, fmt.Errorf("the pair is not of one write: its blocks begin with %x and %x", a[:24], b[:24])
	}
	return s, nil
}

// killChild opens the pair, says what it finds, and writes; it says when a
// write is called and when it has returned.
func killChild(path string) error {
	d, err := disk.Open(path, shadowcopy.Blocks)
	if err != nil {
		return err
	}
	p := shadowcopy.Open(d)
	found, err := stampOf(p.Read())
	if err != nil {
		return err
	}
	fmt.Printf("open %d %d %d\n", found.life, found.writer, found.n)
	ended := make(chan error)
	for w := range uint64(killWriters) {
		go func() {
			for n := uint64(1); ; n++ {
				s := stamp{found.life + 1, w, n}
				fmt.Printf("call %d %d %d\n", s.life, s.writer, s.n)
				p.Write(s.block(), s.block())
				fmt.Printf("done %d %d %d\n", s.life, s.writer, s.n)
				if _, err := stampOf(p.Read()); err != nil {
					ended <- err
					return
				}
			}
		}()
	}
	return <-ended
}

// history is what a killed child has said of its writes.
type history struct {
	found  stamp
	opened bool
	called map[stamp]bool
	// over are the writes that cannot be what a disk has: after they returned
	// another one was called, and that one has returned.
	over     map[stamp]bool
	returned []stamp
	before   map[stamp]int // how many had returned when a write was called
}

func (h *history) hear(t *testing.T, line string) {
	t.Helper()
	var word string
	var s stamp
	if _, err := fmt.Sscanf(line, "%s %d %d %d\n", &word, &s.life, &s.writer, &s.n); err != nil {
		t.Fatalf("the child says %q: %v", line, err)
	}
	switch word {
	case "open":
		h.opened, h.found = true, s
		h.called, h.returned = map[stamp]bool{s: true}, []stamp{s}
	case "call":
		h.called[s] = true
		h.before[s] = len(h.returned)
	case "done":
		for _, o := range h.returned[:h.before[s]] {
			h.over[o] = true
		}
		h.returned = append(h.returned, s)
	default:
		t.Fatalf("the child says %q", line)
	}
}

// killRun starts a child and kills it some time after it has opened the pair.
func killRun(t *testing.T, path string, wait time.Duration) *history {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killChildVar+"="+path)
	var stderr bytes.Buffer
	child.Stderr = &stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	stop := func() { _ = child.Process.Kill() }
	hang := time.AfterFunc(time.Minute, stop)
	defer hang.Stop()
	h := &history{over: map[stamp]bool{}, before: map[stamp]int{}}
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // what is left of a line was never said
		}
		if h.hear(t, line); len(h.called) == 1 {
			defer time.AfterFunc(wait, stop).Stop()
		}
	}
	_ = child.Wait()
	if status := child.ProcessState.String(); status != "signal: killed" {
		t.Fatalf("the child ended by itself: %s\n%s", status, stderr.String())
	}
	return h
}

// TestKilledWhileWriting kills the program again and again. The pair is then
// that of one write, which may be one that had not returned, and is not one
// that a later write had replaced.
func TestKilledWhileWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "disk")
	r := rand.New(rand.NewPCG(1, 1))
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	var last *history
	pending := 0
	for range rounds {
		h := killRun(t, path, time.Duration(r.IntN(30))*time.Millisecond)
		if !h.opened {
			t.Fatal("the child was killed before it had opened the pair")
		}
		if last != nil {
			if !last.called[h.found] {
				t.Fatalf("the pair is of write %v, which was not called", h.found)
			}
			if last.over[h.found] {
				t.Fatalf("the pair is of write %v, which was replaced", h.found)
			}
			for _, s := range last.returned {
				delete(last.called, s)
			}
			if last.called[h.found] {
				pending++
			}
		}
		last = h
	}
	t.Logf("%d of %d times the pair was that of a write that had not returned", pending, rounds-1)
}
