// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package check

import "os/exec"

// apart has a command end when its context does, without waiting long for what
// it has started itself.
func apart(cmd *exec.Cmd) { cmd.WaitDelay = nativeWaitMax }
