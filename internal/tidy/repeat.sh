#!/bin/sh
# Runs the tests of the given packages under the race detector again and again,
# each time as another machine would: with one thread; with two that share one
# processor; with more threads than processors; and stopped now and then, as a
# machine stops that others share. A test that holds only by luck shows here.
# COUNT is how often in each way (default 5). The output of what failed is in
# build/repeat.
set -u
: "${GO:=go}" "${COUNT:=5}" "${BUILD:=build}"
out=$PWD/$BUILD/repeat
rm -rf "$out" && mkdir -p "$out"
failed=0 pid=""
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null; exit 130' INT TERM
one=""
command -v taskset >/dev/null 2>&1 && one="taskset -c 0"
[ -n "$one" ] || echo "repeat: not run on one processor, for want of taskset"

# attempt WAY THREADS PREFIX: one run of the test binary in the package's folder.
attempt() {
    way=$1 threads=$2 prefix=$3
    log=$out/$name.$way
    # shellcheck disable=SC2086 # the prefix is a list of words
    (cd "$dir" && GOMAXPROCS=$threads exec $prefix "$out/$name.test" -test.short -test.count="$COUNT" -test.timeout=20m) >"$log" 2>&1 &
    pid=$!
    if [ "$way" = stopped ]; then
        while sleep 0.4 && kill -STOP "$pid" 2>/dev/null; do
            sleep 0.6
            kill -CONT "$pid" 2>/dev/null
        done
    fi
    wait "$pid"
    status=$?
    pid=""
    if [ "$status" -eq 0 ]; then
        rm -f "$log"
    else
        failed=$((failed + 1))
        echo "FAIL $name, $way: $log"
        grep -E '^ *--- FAIL|^panic:|_test\.go:[0-9]+:|DATA RACE' "$log" | head -n 10
    fi
}

for dir in $("$GO" list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' "$@"); do
    name=$(echo "${dir#"$PWD"/}" | tr / .)
    "$GO" test -race -c -o "$out/$name.test" "$dir" >/dev/null || exit 1
    attempt one-thread 1 ""
    [ -z "$one" ] || attempt one-processor 2 "$one"
    attempt many-threads 8 ""
    attempt stopped 2 ""
    rm -f "$out/$name.test"
    echo "done $name"
done
[ "$failed" -eq 0 ] || { echo "repeat: $failed runs failed"; exit 1; }
echo "repeat: none failed"
