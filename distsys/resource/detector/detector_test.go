// SPDX-License-Identifier: Apache-2.0

package detector_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/detector"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/link"
	"github.com/ashlar-dev/ashlar/tla/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newLink(t *testing.T, node string) link.Options {
	e := osenv.New()
	n := osenv.NewNetwork(osenv.NetworkOptions{})
	t.Cleanup(func() { n.Close() })
	e.Network = n
	return link.Options{Env: e, System: "test", Node: node, BackoffMin: time.Millisecond, BackoffMax: 10 * time.Millisecond}
}

// await runs a section that waits until fd[process] reads as want, and returns
// how often it was woken.
func await(t *testing.T, d *detector.Detector, process value.Value, want bool) distsys.Metrics {
	t.Helper()
	ref := distsys.NewRef("fd", d)
	a := &distsys.Archetype[struct{}]{Name: "Watcher", Sections: []distsys.Section[struct{}]{{Name: "l", Run: func(_ *struct{}, tx *distsys.Tx) (distsys.Label, error) {
		suspected, err := distsys.Read(tx, ref, distsys.Bool(), process)
		if err != nil {
			return 0, err
		}
		if suspected != want {
			return distsys.Blocked()
		}
		return distsys.Done, nil
	}}}}
	in, err := distsys.New(a, value.Int(0), struct{}{}, distsys.Options{Env: osenv.New()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := in.Run(ctx); err != nil {
		t.Fatalf("waiting for fd[%s] = %v: %v", process, want, err)
	}
	return in.Metrics()
}

func TestDetector(t *testing.T) {
	const interval, timeout = 10 * time.Millisecond, 60 * time.Millisecond
	one, two := value.Int(1), value.String("two")
	w := newLink(t, "watched")
	m, err := detector.NewMonitor(w, ":0")
	if err != nil {
		t.Fatal(err)
	}
	m.Set(one, true)
	m.Set(two, true)
	addr := m.Addr()
	d, err := detector.Open(detector.Options{Link: newLink(t, "watcher"), Interval: interval, Timeout: timeout,
		Processes: []detector.Process{{Index: one, Addr: addr}, {Index: two, Addr: addr}}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	// A process that lives is trusted for much longer than the timeout.
	time.Sleep(4 * timeout)
	await(t, d, one, false)
	await(t, d, two, false)

	// One that has failed is suspected, the other is not.
	m.Set(two, false)
	if got := await(t, d, two, true); got.Wakeups > 2 {
		t.Errorf("%d wake-ups for one change", got.Wakeups)
	}
	await(t, d, one, false)

	// When the node ends, both are suspected, and stay so.
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	await(t, d, one, true)
	time.Sleep(2 * timeout)
	await(t, d, one, true)
	await(t, d, two, true)

	// When it is there again, they are trusted.
	w.Env.Network.(*osenv.Network).Close()
	w = newLink(t, "watched")
	m, err = detector.NewMonitor(w, env.Addr(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.Set(one, true)
	await(t, d, one, false)
	await(t, d, two, true)
}

func TestSuspectsWhoWasNeverThere(t *testing.T) {
	d, err := detector.Open(detector.Options{Link: newLink(t, "watcher"), Interval: 5 * time.Millisecond, Timeout: 20 * time.Millisecond,
		Processes: []detector.Process{{Index: value.Int(1), Addr: "127.0.0.1:1"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	await(t, d, value.Int(1), true)
}

func TestOptionsAreChecked(t *testing.T) {
	p := detector.Process{Index: value.Int(1), Addr: "127.0.0.1:1"}
	for want, o := range map[string]detector.Options{
		"twice":    {Processes: []detector.Process{p, p}},
		"Interval": {Interval: time.Second, Timeout: time.Millisecond},
	} {
		o.Link = newLink(t, "watcher")
		if _, err := detector.Open(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
