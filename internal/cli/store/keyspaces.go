// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/store"
)

const keyspacesHelp = `Keyspaces prints the names of a store's keyspaces, one per line, quoted where
necessary. The default keyspace has no name.

Exit codes: 0 printed; 150 something is damaged; 1 files; 2 usage.`

func newKeyspacesCommand(t *console.Terminal) *cobra.Command {
	var o shared
	cmd := &cobra.Command{
		Use:   "keyspaces DIR",
		Short: "Print the names of the keyspaces",
		Long:  keyspacesHelp,
		Example: `  ashlar store keyspaces /var/lib/app/db
  ashlar store dump /var/lib/app/db --keys --keyspace users`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			err := runKeyspaces(t, o, args[0])
			if errors.Is(err, store.ErrCorrupt) {
				return exit.With(exit.Spec, err)
			}
			return exit.Failed(err)
		},
	}
	o.flags(cmd, "ashlar-store-keyspaces/1")
	return cmd
}

func runKeyspaces(t *console.Terminal, o shared, dir string) error {
	s, err := openDir(dir, true)
	if err != nil {
		return err
	}
	defer s.close()
	db, err := s.read(o.options())
	if err != nil {
		return err
	}
	defer db.Close()
	names, err := db.Keyspaces()
	if err != nil {
		return err
	}
	if o.json {
		return json.NewEncoder(t.Out).Encode(struct {
			Schema    string   `json:"schema"`
			Keyspaces []string `json:"keyspaces"`
		}{"ashlar-store-keyspaces/1", append([]string{}, names...)})
	}
	for _, name := range names {
		if quoted := fmt.Sprintf("%q", name); quoted != `"`+name+`"` {
			name = quoted
		}
		if _, err := fmt.Fprintln(t.Out, name); err != nil {
			return err
		}
	}
	return nil
}
