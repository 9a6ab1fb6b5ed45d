// SPDX-License-Identifier: Apache-2.0

// Package deploy says which processes a program runs as, and writes that down for
// those who start processes.
//
// In: a logic.Program and where its processes are to be. Out: a Description, as JSON,
// which every process is given; and files that start the processes: a script for one
// machine, units of systemd, a project of docker compose with its Dockerfile, and
// manifests of Kubernetes.
//
// Each instance is a process, with the node that it is known by. An instance of a
// component that a rewrite has divided into m partitions stands for a logical node:
// those of logical node n have the ids n*m to n*m+m-1.
//
// Promised: the same program and options give the same bytes. A Description that was
// read is whole: every process is one of the program's, none is missing, no two have
// one name or one address, and nothing is longer than its limit. What must come back
// with what it had gets a place on a disk that outlives it.
//
// Refused: names of components that would become one name where only lower case and
// dashes are allowed; starting anything.
package deploy
