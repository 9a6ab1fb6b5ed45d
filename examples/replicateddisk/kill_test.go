package replicateddisk_test

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

	"github.com/ashlar-dev/ashlar/examples/replicateddisk"
	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
)

// The test's binary is also the program that is killed: with this variable set
// it writes to the disks in that directory, until it is killed.
const killChildVar = "ASHLAR_REPLICATEDDISK_CHILD"

const (
	killBlocks  = 3
	killWriters = 4 // each writes to all addresses
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(killChildVar); dir != "" {
		fmt.Fprintln(os.Stderr, killChild(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func killPath(dir string, which int) string {
	return filepath.Join(dir, fmt.Sprintf("disk%d", which), "disk")
}

// stamp says which write a block is of: the address, the life of the program,
// the writer, and its how manyeth write.
type stamp struct{ address, life, writer, n uint64 }

func (s stamp) block() []byte {
	b := make([]byte, 0, disk.BlockSize)
	for len(b) < disk.BlockSize {
		for _, x := range []uint64{s.address, s.life, s.writer, s.n} {
			b = binary.LittleEndian.AppendUint64(b, x)
		}
	}
	return b
}

// stampOf refuses what no write has written. A block of zeros is of the address
// it is asked for.
func stampOf(address uint64, b []byte) (stamp, error) {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	s := stamp{word(0), word(1), word(2), word(3)}
	if !bytes.Equal(b, s.block()) {
		return s, fmt.Errorf("block %d is not of one write: %x", address, b[:64])
	}
	if s == (stamp{}) {
		s.address = address
	}
	if s.address != address {
		return s, fmt.Errorf("block %d has a write to address %d", address, s.address)
	}
	return s, nil
}

// killChild opens the disk, says what it finds, and writes; it says when a
// write is called and when it has returned.
func killChild(dir string) error {
	two, err := disk.OpenTwo(killPath(dir, 0), killPath(dir, 1), killBlocks)
	if err != nil {
		return err
	}
	d := replicateddisk.Open(two)
	life := uint64(0)
	for a := range d.Size() {
		s, err := stampOf(a, d.Read(a))
		if err != nil {
			return err
		}
		fmt.Printf("found %d %d %d %d\n", s.address, s.life, s.writer, s.n)
		life = max(life, s.life+1)
	}
	ended := make(chan error)
	for w := range uint64(killWriters) {
		go func() {
			for n := uint64(1); ; n++ {
				s := stamp{(w + n) % killBlocks, life, w, n}
				fmt.Printf("call %d %d %d %d\n", s.address, s.life, s.writer, s.n)
				d.Write(s.address, s.block())
				fmt.Printf("done %d %d %d %d\n", s.address, s.life, s.writer, s.n)
				if _, err := stampOf(s.address, d.Read(s.address)); err != nil {
					ended <- err
					return
				}
			}
		}()
	}
	return <-ended
}

// history is what a killed child has said of its writes to one address.
type history struct {
	found  stamp
	called map[stamp]bool
	// over are the writes that cannot be what the disk has: after they returned
	// another one was called, and that one has returned.
	over     map[stamp]bool
	returned []stamp
	before   map[stamp]int // how many had returned when a write was called
}

// lives is what a child has said, for each address that it has found.
type lives map[uint64]*history

func (l lives) hear(t *testing.T, line string) {
	t.Helper()
	var word string
	var s stamp
	if _, err := fmt.Sscanf(line, "%s %d %d %d %d\n", &word, &s.address, &s.life, &s.writer, &s.n); err != nil {
		t.Fatalf("the child says %q: %v", line, err)
	}
	h := l[s.address]
	switch word {
	case "found":
		l[s.address] = &history{
			found: s, called: map[stamp]bool{s: true}, over: map[stamp]bool{},
			returned: []stamp{s}, before: map[stamp]int{},
		}
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

// killRun starts a child and kills it some time after it has opened the disk.
func killRun(t *testing.T, dir string, wait time.Duration) lives {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killChildVar+"="+dir)
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
	l, opened := lives{}, false
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // what is left of a line was never said
		}
		if l.hear(t, line); len(l) == killBlocks && !opened {
			opened = true
			defer time.AfterFunc(wait, stop).Stop()
		}
	}
	_ = child.Wait()
	if status := child.ProcessState.String(); status != "signal: killed" {
		t.Fatalf("the child ended by itself: %s\n%s", status, stderr.String())
	}
	if !opened {
		t.Fatal("the child was killed before it had opened the disk")
	}
	return l
}

// killRounds kills the program again and again, and takes one disk away when
// half the rounds are over. Each block is that of one write, which may be one
// that had not returned, and is not one that a later write had replaced.
func killRounds(t *testing.T, failing int) {
	dir := t.TempDir()
	for which := range 2 {
		if err := os.Mkdir(filepath.Dir(killPath(dir, which)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(2, uint64(failing)))
	rounds := 20
	if testing.Short() {
		rounds = 6
	}
	var last lives
	pending := 0
	for round := range rounds {
		if round == rounds/2 {
			if err := os.RemoveAll(filepath.Dir(killPath(dir, failing))); err != nil {
				t.Fatal(err)
			}
		}
		next := killRun(t, dir, time.Duration(r.IntN(30))*time.Millisecond)
		for a, h := range last {
			found := next[a].found
			if !h.called[found] {
				t.Fatalf("round %d: block %d is of write %v, which was not called", round, a, found)
			}
			if h.over[found] {
				t.Fatalf("round %d: block %d is of write %v, which was replaced", round, a, found)
			}
			for _, s := range h.returned {
				delete(h.called, s)
			}
			if h.called[found] {
				pending++
			}
		}
		last = next
	}
	t.Logf("%d of %d blocks were those of a write that had not returned", pending, (rounds-1)*killBlocks)
}

func TestKilledWhileWritingAndDisk0Fails(t *testing.T) { killRounds(t, 0) }
func TestKilledWhileWritingAndDisk1Fails(t *testing.T) { killRounds(t, 1) }
