#!/usr/bin/env bats
# flatbed bench: real overlay mounts, and their use by flatten analyze. Needs root.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

setup_file() {
    local tool
    for tool in "$FLATBED" "$FLATTEN"; do
        [ -x "$tool" ] || { echo "FLATBED and FLATTEN are not set"; return 1; }
    done
    for tool in gojq python3 setpriv unshare; do
        command -v "$tool" >/dev/null || { echo "$tool is needed"; return 1; }
    done
    if [ "$(id -u)" != 0 ]; then
        [ "$CI" != true ] || return 1
        skip "needs root"
    fi
    export WORK=$BATS_FILE_TMPDIR/work
    mkdir "$WORK"
    "$FLATBED" bench --dir="$WORK" --runs=3 --size=8 --save --costs="$WORK/costs.json" >"$WORK/table" 2>"$WORK/log"
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$BATS_TEST_DIRNAME/../../oracle python3 - "$WORK/deep" <<'EOF'
import sys
import images
from tarball import d, f
images.write_oci(sys.argv[1], images.tars_of([[d("usr"), f("usr/f%d" % n, b"x")] for n in range(12)]))
EOF
}

bench() { run --separate-stderr "$FLATBED" bench "$@"; }

fails() {
    local expected=$1 text=$2
    shift 2
    bench "$@"
    echo "status $status: $output $stderr"
    [ "$status" -eq "$expected" ] && [ -z "$output" ] && [[ $stderr == "flatbed: error: "*"$text"* ]]
}

analyze() { run --separate-stderr "$FLATTEN" analyze "$@" "oci:$WORK/deep"; }

@test "deeper mounts are slower when cold and not when warm; no mount or file is left behind" {
    cat "$WORK/table" "$WORK/log"
    # Only what differs by several times: neighbours change places on a busy machine.
    gojq -e '[.lookups[] | select(.cold == "mount")] | length == 3 and all(.layers["1"] < .layers["60"])' \
        "$WORK/costs.json"
    gojq -e '[.lookups[] | select(.kind == "stat")] | (.[] | select(.cold == "warm")).layers["60"] <
        (.[] | select(.cold == "mount")).layers["60"]' "$WORK/costs.json"
    gojq -e '[.k[] | .mount] | length == 3 and all(. > 0.01 and . < 5)' "$WORK/costs.json"
    gojq -e '[.k[] | has("disk")] | any | not' "$WORK/costs.json"
    gojq -e '.version == 1 and .copy_up.bytes == 8388608 and .copy_up.seconds > .copy_up.bind' "$WORK/costs.json"
    [ "$(ls -A "$WORK")" = $'costs.json\ndeep\nlog\ntable' ]
    [ "$(stat -c %a "$WORK/costs.json")" = 644 ]
    [[ $(cat "$WORK/log") == "flatbed: saved in $WORK/costs.json" ]]
    [[ $(cat "$WORK/table") == *"fresh mount"*"The first change of a file"*"--drop-caches"* ]]
    run ! grep -q flatbed-bench /proc/self/mountinfo
}

@test "analyze predicts from the measurements, and says so" {
    analyze --json
    gojq -e '.images[0].lookups.model | .measured == [] and .file == null and .date == null' <<<"$output"
    default=$(gojq '.images[0].lookups.model.stat.mount.ratio' <<<"$output")
    analyze --json --costs="$WORK/costs.json"
    gojq -e --slurpfile costs "$WORK/costs.json" '.images[0].lookups | .model as $m | $costs[0] as $c |
        $m.measured == ["mount"] and $m.date == $c.measured and $m.kernel == $c.kernel and
        $m.stat.mount.k == $c.k.stat.mount and
        ($m.stat.mount.ratio - (1 + $c.k.stat.mount * (.existing.mean - 1)) | fabs) < 0.001' <<<"$output"
    [ "$(gojq '.images[0].lookups.model.stat.mount.ratio' <<<"$output")" != "$default" ]
    gojq '.k.stat.mount = 100' "$WORK/costs.json" >"$WORK/dear.json"
    analyze --costs="$WORK/dear.json"
    rm "$WORK/dear.json"
    [[ $output == *"k measured 20"*"dear.json); by default: no dentries, no cache."* ]]
}

@test "an invalid file is an error if it is named on the command line" {
    for text in '' '[]' '{"version":1}' '{"version":2}'; do
        echo "$text" >"$BATS_TEST_TMPDIR/bad.json"
        analyze --costs="$BATS_TEST_TMPDIR/bad.json"
        [[ $stderr == "flatten: error: $BATS_TEST_TMPDIR/bad.json: "* && -z $output ]]
        [ "$status" -eq 5 ] || [ "$status" -eq 8 ]
    done
    analyze --costs=/nowhere
    [ "$status" -eq 3 ]
    head -c 100000 /dev/zero >"$BATS_TEST_TMPDIR/large.json"
    analyze --costs="$BATS_TEST_TMPDIR/large.json"
    [ "$status" -eq 7 ]
}

# Runs with an empty /var/lib, in a new mount namespace.
own_var_lib() {
    run --separate-stderr unshare --mount --propagation private sh -ec '
        mount -t tmpfs -o mode=0755 none /var/lib
        '"$1" sh
    echo "status $status: $output $stderr"
}

@test "--save writes the file that analyze reads; a file writable by others is not used" {
    own_var_lib '"$FLATBED" bench --dir=/var/lib --runs=1 --size=1 --save >/dev/null
        [ "$(stat -c "%a %u" /var/lib/flatbed /var/lib/flatbed/costs.json | tr "\n" ,)" = "755 0,644 0," ]
        [ "$(ls -A /var/lib /var/lib/flatbed | tr "\n" ,)" = "/var/lib:,flatbed,,/var/lib/flatbed:,costs.json," ]
        "$FLATTEN" analyze "oci:$WORK/deep"'
    [ "$status" -eq 0 ]
    [[ $output == *"k measured on this host, 20"*", tmpfs (/var/lib/flatbed/costs.json)"* ]]
    own_var_lib 'mkdir /var/lib/flatbed; cp "$WORK/costs.json" /var/lib/flatbed
        chmod o+w /var/lib/flatbed/costs.json; "$FLATTEN" analyze "oci:$WORK/deep"'
    [ "$status" -eq 0 ]
    [[ $output == *"k by default"* && $stderr == "flatten: warning: "*"users other than root"*"defaults are used" ]]
    own_var_lib 'mkdir /var/lib/flatbed; echo x >/var/lib/flatbed/costs.json; "$FLATTEN" analyze "oci:$WORK/deep"'
    [ "$status" -eq 0 ]
    [[ $stderr == "flatten: warning: /var/lib/flatbed/costs.json: "* ]]
}

@test "--json works; without root it uses a user namespace; without overlay it fails" {
    bench --dir="$WORK" --runs=1 --size=1 --json
    [ "$status" -eq 0 ]
    gojq -e '.runs == 1 and (.lookups | length == 6)' <<<"$output"
    dir=$(mktemp -d)
    chown nobody "$dir"
    run --separate-stderr setpriv --reuid=nobody --clear-groups "$FLATBED" bench --dir="$dir" --runs=1 --size=1 --json
    echo "status $status: $output $stderr"
    left=$(ls -A "$dir")
    rm -r "$dir"
    [ -z "$left" ]
    if [ "$status" -eq 0 ]; then
        gojq -e '.k.stat.mount >= 0' <<<"$output"
    else
        [[ $stderr == *"user namespace"* || $stderr == *"overlay cannot be mounted here"* ]]
    fi
    fails 3 "nowhere" --dir=/nowhere
    fails 3 "" --dir=/proc
    fails 2 "--runs" --runs=0
    fails 2 "--size" --size=0
    fails 2 "--save" --costs=x
    fails 3 "nowhere" --save --costs=/nowhere/x
}

@test "an interrupted run leaves no files" {
    mkdir "$BATS_TEST_TMPDIR/here"
    "$FLATBED" bench --dir="$BATS_TEST_TMPDIR/here" --runs=101 >/dev/null 2>&1 &
    pid=$!
    for _ in $(seq 6000); do
        [ -n "$(ls "$BATS_TEST_TMPDIR/here")" ] && break
        sleep 0.05
    done
    sleep 0.3
    [ -n "$(ls "$BATS_TEST_TMPDIR/here")" ]
    kill -TERM "$pid"
    wait "$pid" || status=$?
    [ "$status" -eq 143 ]
    [ -z "$(ls -A "$BATS_TEST_TMPDIR/here")" ]
}
