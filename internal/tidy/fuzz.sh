#!/bin/sh
# Runs every fuzz target of the repository for FUZZTIME (default 5s).
set -eu
: "${GO:=go}" "${FUZZTIME:=5s}"
targets=$(grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' . | sort)
[ -n "$targets" ] || { echo "fuzz: no target found" >&2; exit 1; }
n=0
for file in $targets; do
    for name in $(sed -nE 's/^func (Fuzz[A-Za-z0-9_]+)\(.*/\1/p' "$file"); do
        echo "fuzz: $(dirname "$file") $name"
        "$GO" test -run '^$' -fuzz "^$name\$" -fuzztime "$FUZZTIME" "$(dirname "$file")" >/tmp/ashlar-fuzz.$$ 2>&1 || {
            cat /tmp/ashlar-fuzz.$$; rm -f /tmp/ashlar-fuzz.$$; exit 1; }
        n=$((n + 1))
    done
done
rm -f /tmp/ashlar-fuzz.$$
echo "fuzz: $n targets, $FUZZTIME each, none failed"
