// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestOwnSpecifications translates the algorithms in specs, and the results
// again.
func TestOwnSpecifications(t *testing.T) {
	var found int
	for _, pattern := range []string{"../../../specs/*/*.tla", "../../../specs/*/*/*.tla"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !regexp.MustCompile(`--(fair )?(algorithm|mpcal) `).Match(text) {
				continue
			}
			found++
			t.Run(path, func(t *testing.T) {
				f := translated(t, osFiles{}, path)
				again := translated(t, overlay{osFiles{}, path, f.Content}, path)
				if string(again.Content) != string(f.Content) {
					t.Errorf("translating twice changes the file")
				}
			})
		}
	}
	if found == 0 {
		t.Fatal("no specification has an algorithm")
	}
}
