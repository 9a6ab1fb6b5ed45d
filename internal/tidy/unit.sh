#!/bin/sh
# Runs all tests. Shows a line for each package, what failed, what did not run and
# why, and where the time went; keeps the whole output in build/test.log.
set -u
: "${GO:=go}"
mkdir -p build
log=build/test.log
begun=$(date +%s)
# One package more than there are processors: tests of processes mostly wait.
parallel=$(($(getconf _NPROCESSORS_ONLN) + 1))
# Those that take the longest begin first, so that no processor waits for one of them
# at the end; those that mostly wait begin beside those that compute.
first="./cmd/ashlard/daemon ./internal/evidence/store/explore ./internal/evidence/worm/simulation ./internal/model
    ./cmd/ashlar ./store ./examples/dedalus/compiled ./specs ./internal/cli/ending ./internal/evidence/dedalus/drawn
    ./goose/primitive ./internal/evidence/dedalus/gallina ./internal/compile"

# The Go tools that tests run, as those that build the tests, collect garbage less often.
tools=$(pwd)/build/tools
mkdir -p "$tools"
printf '#!/bin/sh\nGOGC=400 exec "%s" "$@"\n' "$(command -v "$GO")" >"$tools/go"
chmod +x "$tools/go"

# run MODULE ARGUMENTS: 'go test' without what 'make lint' has done, and without what
# only debuggers need. Tests collect garbage as users' programs do, whatever the tools
# that build them are told.
run() {
    module=$1
    shift
    "$GO" -C "$module" test -v -vet=off -ldflags=-w -exec "env -u GOGC -u GOMEMLIMIT 'PATH=$tools:$PATH'" "$@"
}

run bench -p 1 -timeout 25m ./... >build/bench.log 2>&1 &
bench=$!
trap 'kill -INT "$bench" 2>/dev/null; exit 130' INT TERM
# shellcheck disable=SC2086 # a list of words
run . -p "$parallel" -timeout 40m $first ./... >"$log" 2>&1
status=$?
wait "$bench" || status=$?
cat build/bench.log >>"$log" && rm build/bench.log
grep -E '^(ok|FAIL)[[:space:]]' "$log"
# A test says why it is skipped before the line that says that it is: the reason
# is the last thing it has logged.
awk '
    /^=== (RUN|NAME|CONT) / { test = $3; next }
    /^    +[A-Za-z0-9_]+\.go:[0-9]+: / { sub(/^ +/, ""); reason[test] = $0; next }
    /^ *--- SKIP: / {
        if (!some++) print "not run:"
        print "    " $3 ": " (reason[$3] == "" ? "no reason given" : reason[$3])
    }
' "$log"
if [ "$status" -ne 0 ]; then
    echo "failed (the whole output is in $log):"
    # What a test has logged stands before the line that says that it failed.
    awk '
        /^=== (RUN|NAME|CONT) / { test = $3; next }
        /^ *--- FAIL: / { print; printf "%s", said[$3]; next }
        /^ *--- (PASS|SKIP): / { delete said[$3]; next }
        /^panic:|^fatal error:|^# |\[build failed\]/ { print; left = 30; next }
        left > 0 { left--; print; next }
        length(said[test]) < 8000 { said[test] = said[test] substr($0, 1, 2000) "\n" }
    ' "$log" | head -n 300
fi
echo "the slowest packages:"
awk '$1 == "ok" || $1 == "FAIL" { if ($3 ~ /^[0-9.]+s$/) print "    " $3, $2 }' "$log" | sort -rn | head -n 10
echo "all tests: $(($(date +%s) - begun)) s; processor time, of this shell and of the tests (user, system):"
times
exit "$status"
