// SPDX-License-Identifier: Apache-2.0

// Package deploy determines the processes of a program, and writes the files that
// start them.
//
// In: a logic.Program and the places of its processes. Out: a Description, as JSON,
// which every process reads; and files that start the processes: a script for one
// machine, systemd units, a docker compose project with its Dockerfile, and Kubernetes
// manifests.
//
// Each instance is a process, named by its node. An instance of a
// component that a rewrite has divided into m partitions stands for a logical node:
// those of logical node n have the ids n*m to n*m+m-1.
//
// Promised: the same program and options give the same bytes. Read returns only
// complete Descriptions: every process belongs to the program, none is missing, no two
// have the same name or address, and nothing exceeds its limit. A process with durable
// state gets a place on a disk that outlives it.
//
// Refused: component names that would become the same name where only lower case and
// dashes are allowed; starting processes.
package deploy
