// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDescriptionThatCannotBeRead: the demonstration says what is wrong with the cluster's
// description, and goes on with no other one.
func TestDescriptionThatCannotBeRead(t *testing.T) {
	f := &fleet{cluster: filepath.Join(t.TempDir(), "cluster.json")}
	if _, err := f.open(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a description: %v", err)
	}
	if err := os.WriteFile(f.cluster, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.open(); err == nil || !strings.Contains(err.Error(), f.cluster) {
		t.Errorf("half a description: %v", err)
	}
}
