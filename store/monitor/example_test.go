// SPDX-License-Identifier: Apache-2.0

package monitor_test

import (
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
	"github.com/ashlar-dev/ashlar/store/monitor"
)

// A program serves the handler at /metrics.
func ExampleHandler() {
	world := env.Env{Clock: osenv.NewClock(), Random: osenv.NewRandom(), Disk: sim.NewDisk()} // or osenv.OpenDisk
	db, err := store.Open(world, "data", store.Options{Memory: store.MemoryMin, Tuning: store.Tuning{Inline: true}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	if err := db.Put([]byte("colour"), []byte("red")); err != nil {
		fmt.Println(err)
	}
	w := httptest.NewRecorder()
	monitor.Handler(db).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if strings.Contains(line, "user_bytes") {
			fmt.Print(line)
		}
	}
	// Output:
	// # HELP ashlar_store_user_bytes_total Bytes of keys and values that were written.
	// # TYPE ashlar_store_user_bytes_total counter
	// ashlar_store_user_bytes_total 9
}
