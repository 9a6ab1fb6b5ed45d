#!/bin/sh
# Starts all processes of paxos on this machine, and ends them when it ends itself.
#
#   ./start.sh PROGRAM [DIRECTORY]
#
# PROGRAM was built from what 'ashlar dedalus compile' writes. What is durable is kept
# in the DIRECTORY, ./data where none is given.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=${1:?which program is to be started}
data=${2:-$here/data}
pids=
end() {
  trap - INT TERM EXIT
  for pid in $pids; do kill "$pid" 2>/dev/null || true; done
  wait
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
start() {
  "$program" --deployment "$here/deployment.json" --node "$1" --data "$data/$2" &
  pids="$pids $!"
}
start proposer/0 proposer-0
start proposer/1 proposer-1
start acceptor/0 acceptor-0
start acceptor/1 acceptor-1
start acceptor/2 acceptor-2
wait
