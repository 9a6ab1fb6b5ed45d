#!/bin/sh
# Runs all tests. Shows a line for each package, what failed, and what did not
# run and why; keeps the whole output in build/test.log.
set -u
: "${GO:=go}"
mkdir -p build
log=build/test.log
"$GO" test -v -timeout 25m ./... >"$log" 2>&1
status=$?
grep -E '^(ok|FAIL)[[:space:]]' "$log"
skipped=$(grep -c -E '^ *--- SKIP' "$log")
if [ "$skipped" -gt 0 ]; then
    echo "not run:"
    grep -A1 -E '^ *--- SKIP' "$log" | grep -v -E '^--$'
fi
if [ "$status" -ne 0 ]; then
    echo "failed (the whole output is in $log):"
    grep -A30 -E '^ *--- FAIL|^panic:|^# |\[build failed\]' "$log" | head -n 300
fi
exit "$status"
