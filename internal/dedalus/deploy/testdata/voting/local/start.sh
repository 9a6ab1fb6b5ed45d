#!/bin/sh
# Starts all processes of voting on this machine, and ends them when it ends itself.
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
start leader/0 leader-0
start collector/0 collector-0
start collector/1 collector-1
start replier/0 replier-0
start participant/0 participant-0
start participant/1 participant-1
start participant/2 participant-2
start participant/3 participant-3
start participant/4 participant-4
start participant/5 participant-5
wait
