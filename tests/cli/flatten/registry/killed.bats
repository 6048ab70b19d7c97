#!/usr/bin/env bats
# flatten killed during a push to a real registry: the image that others see under the tag.
# shellcheck disable=SC2154  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load ../lib/flatten
load ../lib/registry

setup_file() {
    export HOME=$BATS_FILE_TMPDIR/home
    export XDG_RUNTIME_DIR=$HOME/run
    unset REGISTRY_AUTH_FILE DOCKER_CONFIG XDG_CONFIG_HOME SSL_CERT_FILE SSL_CERT_DIR
    mkdir -p "$XDG_RUNTIME_DIR"
    make_images docker-registry openssl skopeo gojq || return
    wrap_flatten
    few_cas || return
    export ONE=$BATS_FILE_TMPDIR/one.tar TWO=$BATS_FILE_TMPDIR/two.tar # large enough for several chunks
    python3 "$FLATTEN_LIB/large_image.py" "$ONE" 16
    python3 "$FLATTEN_LIB/large_image.py" "$TWO" 66
    registry_start "$BATS_FILE_TMPDIR/plain"
    export PLAIN=$REGISTRY LOG=$BATS_FILE_TMPDIR/plain/log
}

teardown_file() { registry_stop_all "$BATS_FILE_TMPDIR"; }

setup() {
    mkdir -p "$BATS_TEST_TMPDIR/work" "$BATS_TEST_TMPDIR/tmp"
    cd "$BATS_TEST_TMPDIR/work" || return
    export TMPDIR=$BATS_TEST_TMPDIR/tmp
}

answers() { grep -c 'response completed' "$LOG" || true; }

# kill_after N SECONDS WORD...: sends SIGKILL SECONDS after the registry has given N more answers.
kill_after() {
    local from pid given
    from=$(($(stat -c %s "$LOG") + 1))
    "$FLATTEN" -q "${@:3}" >/dev/null 2>&1 3>&- &
    pid=$!
    # If there are fewer answers, tail ends together with flatten.
    given=$(tail -c "+$from" -f -s 0.05 --pid=$pid "$LOG" | grep -c -m "$1" 'response completed') || true
    sleep "$2"
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    echo "$given answers before the kill"
}

# shown TAG: prints the digest of the complete image that a client can pull; "" if there is none.
shown() {
    rm -rf pulled
    skopeo copy -q --all --src-tls-verify=false "docker://$PLAIN/$1" dir:pulled 2>missing || {
        grep -qE 'manifest unknown|name unknown' missing
        return
    }
    echo "sha256:$(sha256sum <pulled/manifest.json | cut -d' ' -f1)"
}

# killed_all NAME OLD WORD...: kills flatten at each answer of the registry, at once or shortly after, each
# time in another repository. The tag is as before ("" for none, else the image OLD) or has the result of
# a complete run, and another run then gives that result.
killed_all() {
    local name=$1 old=$2 before most new tag was="" seen
    shift 2
    before=$(answers)
    "$FLATTEN" -q "$@" "docker://$PLAIN/$name/whole:v1" >whole
    new=$(tail -n 1 whole)
    most=$(($(answers) - before))
    for i in $(seq 0 "$most"); do
        tag=$name/killed-$i:v1
        [ -z "$old" ] || was=$("$FLATTEN" -q "$old" "docker://$PLAIN/$tag" | tail -n 1)
        kill_after "$i" "0.0$((i % 2 * (RANDOM % 10)))" "$@" "docker://$PLAIN/$tag"
        seen=$(shown "$tag")
        echo "killed after $i of $most answers: ${seen:-nothing}"
        [ "$seen" = "$was" ] || [ "$seen" = "$new" ]
        [ -z "$(ls -A "$TMPDIR")" ]
        ok -q "$@" "docker://$PLAIN/$tag"
        [ "$(shown "$tag")" = "$new" ]
    done
}

@test "a killed push leaves no tag, or the complete image" {
    killed_all fresh "" --compression=none "$ONE"
}

@test "a killed push in chunks over an older image leaves the older or the new image, complete" {
    killed_all older "$IMAGES/old.tar" --compression=none "$TWO"
}

@test "a killed push of several platforms writes the index after all its images" {
    killed_all index "" "oci:$IMAGES/platforms"
    [ "$(skopeo inspect --raw --tls-verify=false "docker://$PLAIN/index/killed-1:v1" |
        gojq '.manifests | length')" -eq 3 ]
}
