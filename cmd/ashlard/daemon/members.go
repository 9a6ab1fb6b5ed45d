// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/ashlar-dev/ashlar/internal/cli/worm/access"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// membersFile is the file in a server's directory that stores the cluster's
// description with the newest configurations that the server knows. With it the
// server can find the cluster even if all servers in the description on its
// command line are gone.
const membersFile = "members.json"

// readMembers adds to a description the configurations that the server has stored in
// its directory. It ignores a file of another cluster, or of the cluster before a
// restore.
func readMembers(dir string, g *wor.Genesis) error {
	kept, err := access.Read(filepath.Join(dir, membersFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case kept.Cluster == g.Cluster:
		access.Remember(g, kept.Known)
	}
	return nil
}
