#!/bin/sh
# Runs all tests. Shows a line for each package, what failed, and what did not
# run and why; keeps the whole output in build/test.log.
set -u
: "${GO:=go}"
mkdir -p build
log=build/test.log
# One package more than there are processors: tests of processes mostly wait.
parallel=$(($(getconf _NPROCESSORS_ONLN) + 1))
"$GO" test -v -p "$parallel" -timeout 40m ./... >"$log" 2>&1
status=$?
"$GO" -C bench test -v -timeout 25m ./... >>"$log" 2>&1 || status=$?
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
exit "$status"
