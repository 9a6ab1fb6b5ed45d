// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/file"
	"github.com/ashlar-dev/ashlar/internal/dedalus/deploy"
)

// deployOptions are the flags of dedalus deploy.
type deployOptions struct {
	steps
	deploy.Options
	out, format string
	json        bool
}

func newDeployCommand(t *console.Terminal) *cobra.Command {
	var o deployOptions
	cmd := &cobra.Command{
		Use:   "deploy FILE.ded --format FORMAT -o DIR",
		Short: "Write a deployment: the processes of a protocol, and files that start them",
		Long: `Deploy writes deployment.json, which gives for each instance its node, component,
partition and address; and files that start the processes:

  local       start.sh, for this machine
  systemd     a unit for each process, and a target
  compose     compose.yaml, Dockerfile
  kubernetes  a manifest with a StatefulSet and a Service for each component, Dockerfile

Instances with durable state get a volume or a directory. For all formats except local
there is also a file key, generated if there is none, with which the processes
authenticate each other. Keep it secret.

The program is the one that 'ashlar dedalus compile' compiles with the same steps.

Exit codes: 0 written; 12 a step was refused; 150 errors in the program; 1 files;
2 usage.`,
		Example: `  ashlar dedalus deploy voting.ded --format local -o deploy
  ashlar dedalus deploy voting.ded --script voting.steps --format kubernetes --image registry.example.org/voting:1 -o deploy
  ashlar dedalus deploy paxos.ded --format systemd --hosts 10.0.0.1,10.0.0.2,10.0.0.3 -o deploy`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runDeploy(t, o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", string(deploy.Local), "local, systemd, compose or kubernetes")
	f.StringVarP(&o.out, "out", "o", "", "the directory to write to (required)")
	o.steps.flags(cmd)
	f.StringSliceVar(&o.Hosts, "hosts", nil, "the machines, used in turn, for local and systemd (default: this one, on loopback)")
	f.IntVar(&o.Port, "port", deploy.PortDefault, "the first port, for local and systemd")
	f.StringVar(&o.Image, "image", "", "the container image, for compose and kubernetes (default: the program's name)")
	f.StringVar(&o.Storage, "storage", "1Gi", "the size of a volume, for kubernetes")
	f.BoolVar(&o.json, "json", false, "report what was written as JSON")
	return cmd
}

func runDeploy(t *console.Terminal, o deployOptions, path string) error {
	if o.out == "" {
		return exit.With(exit.Usage, errors.New("deploy needs -o DIR"))
	}
	p, err := o.load(t, path)
	if err != nil {
		return err
	}
	files, err := deploy.Write(p, deploy.Format(o.format), o.Options)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return failed(err)
	}
	written := []string{}
	for _, f := range files {
		mode := os.FileMode(0o666)
		if f.Executable {
			mode = 0o777
		}
		name := filepath.Join(o.out, f.Name)
		if err := file.Write(name, f.Text, mode); err != nil {
			return failed(err)
		}
		written = append(written, name)
	}
	if deploy.Format(o.format) != deploy.Local {
		name := filepath.Join(o.out, "key")
		drawn, err := drawKey(name)
		if err != nil {
			return failed(err)
		}
		if drawn {
			written = append(written, name)
		}
	}
	if o.json {
		return t.JSON(struct {
			Schema string   `json:"schema"`
			Format string   `json:"format"`
			Files  []string `json:"files"`
		}{"ashlar-dedalus-deploy-1", o.format, written})
	}
	for _, f := range written {
		fmt.Fprintln(t.Out, f)
	}
	return nil
}

// drawKey generates a key unless there is one.
func drawKey(name string) (drawn bool, err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var key [32]byte
	_, err = rand.Read(key[:])
	if err == nil {
		_, err = f.WriteString(hex.EncodeToString(key[:]) + "\n")
	}
	return true, errors.Join(err, f.Close())
}
