#!/usr/bin/env bats
# Volumes from a registry: fetched once by digest into the cache of staged volumes, and mounted read-only.
# shellcheck disable=SC2154  # status and stderr are set by bats' run

load ../lib/oci

setup_file() {
    command -v docker-registry >/dev/null || { [ "${CI-}" != true ] && skip "needs docker-registry"; return 1; }
    few_cas
    registry_start "$BATS_FILE_TMPDIR/registry"
    export REGISTRY
}

teardown_file() { registry_stop_all "$BATS_FILE_TMPDIR"; }

@test "the first launch is refused while it is fetched, and the next one mounts it" {
    push models/llama-7b:stable model weights=seven
    models
    asking
    run "$FLATBED" explain "--policy=$DIR/policy.json" "--config=$BUNDLE/config.json"
    [ "$status" -eq 1 ]
    [[ $output == *"not fetched yet"* ]]
    no_copiers
    EXPECTED=1 launch
    refused "volumes.models 'llama-7b': oci://$REGISTRY/models/llama-7b:stable is not here yet: try again later (being fetched"
    settled
    launch
    got_copy
    [ "$(metric 'flatbed_stage_copies_total{result="made"}')" = 1 ]
    saying "fetched as ${DIGEST:0:19}"
    [ "$(content weights)" = seven ]
    [ "$(cat "$DIR/low.tree.c1")" = weights ]
    [ "$(stat -c %a "$(tree)")" = 755 ]
    local options
    options=$(cut -d' ' -f2 "$DIR/low.mount.c1")
    for option in ro nosuid nodev; do [[ ,$options, == *,$option,* ]]; done
    [ "$(gojq -r '.source, .digest' "$(entries)/record.json")" = "oci://$REGISTRY/models/llama-7b:stable"$'\n'"$DIGEST" ]
    has_no_part
    [ "$(stat -c %a:%u "$CACHE")" = 700:0 ]
    # flatbed stage and explain say it.
    stage
    [[ $output == *"oci://$REGISTRY/models/llama-7b:stable (${DIGEST:0:19})"* ]]
    stage --json
    [ "$(gojq -r '.caches[0].copies[0].digest' <<<"$output")" = "$DIGEST" ]
    run "$FLATBED" explain "--policy=$DIR/policy.json" "--config=$BUNDLE/config.json"
    [[ $output == *"fetched as ${DIGEST:0:19}"* ]]
}

@test "wait: the launch returns with it; ordinary images and packed weights, several layers" {
    push models/image:stable image weights=one
    push models/packed:stable weights a=1 b=2
    models '"wait": 300, "verify": "content"'
    asking image
    launch
    got_copy
    [ "$(content weights)" = one ]
    [ -u "$(tree)/bin/setuid" ]
    [ -c "$(tree)/null" ]
    stage --drop models=image
    asking packed
    launch
    [ "$(content a)$(content b)" = 12 ]
    [ "$(gojq .verified "$(entries)/record.json")" = true ]
}

@test "ten launches at once fetch it once" {
    local i pids=()
    head -c 20M /dev/urandom >"$DIR/weights"
    push models/once:stable model "weights=@$DIR/weights"
    models '"wait": 300'
    asking once
    for ((i = 0; i < 10; i++)); do
        mkdir "$DIR/b$i"
        cp "$BUNDLE/config.json" "$DIR/b$i/"
        "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" --root "$DIR/state" create --bundle "$DIR/b$i" "c$i" 3>&- &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i"; done
    settled
    [ "$(fetches models/once)" -eq 1 ]
    for ((i = 0; i < 10; i++)); do [ "$(cat "$DIR/low.tree.c$i")" = weights ]; done
    cmp "$DIR/weights" "$(tree)/weights"
}

@test "a tag that moves: the next check fetches the new digest, and what is mounted stays" {
    local old
    push models/moving:stable model weights=old
    models '"wait": 300, "recheck": 0'
    asking moving
    launch
    old=$(gojq -r .digest "$(entries)/record.json")
    mkdir "$DIR/mnt"
    mount --bind "$(tree)" "$DIR/mnt"
    settled
    push models/moving:stable model weights=new
    [ "$DIGEST" != "$old" ]
    launch
    got_copy
    saying "fetched as ${old:0:19}"
    settled
    [ "$(content weights)" = new ]
    [ "$(cat "$DIR/mnt/weights")" = old ]
    launch
    saying "fetched as ${DIGEST:0:19}"
    # By digest nothing is ever asked again.
    FROM="oci://$REGISTRY/models/moving@$DIGEST" models '"wait": 300, "recheck": 0'
    launch
    got_copy
    settled
    before=$(wc -l <"$BATS_FILE_TMPDIR/registry/log")
    launch
    settled
    [ "$(wc -l <"$BATS_FILE_TMPDIR/registry/log")" -eq "$before" ]
}

@test "a registry that is down: refused with the reason; what is there is used" {
    FROM='oci://127.0.0.1:9/models/{name}' models '"wait": 300'
    asking
    EXPECTED=1 launch
    refused "could not be fetched: "
    [[ $stderr == *"127.0.0.1:9"* ]]
    FROM='oci://127.0.0.1:9/models/{name}' models '' '"optional": true'
    launch
    saying "not fetched: "
    [ "$(tail -n 1 "$DIR/audit.jsonl" | gojq -r '.operations[] | select(.kind == "volume") | .verdict')" = skipped ]
    sed -i 's/, "optional": true//; s/"version": 1/"version": 1, "mode": "permissive"/' "$DIR/policy.json"
    launch
    saying "not fetched: "
    run "$FLATBED" explain "--policy=$DIR/policy.json" "--config=$BUNDLE/config.json"
    [ "$status" -eq 0 ]
    # The one that was fetched before is used.
    registry_start "$BATS_FILE_TMPDIR/dying"
    push models/llama-7b:stable model weights=seven
    models '"recheck": 0'
    "$FLATBED" stage --policy "$DIR/policy.json" --wait models=llama-7b
    kill "$REGISTRY_PID"
    wait "$REGISTRY_PID" || true
    launch
    got_copy
    settled
    launch
    got_copy
    saying "whether it is the newest is not known: "
    no_copiers
}

@test "a registry that hangs holds up no launch, and flatten ends with its copier" {
    local server pid child
    python3 -c 'import socket, time; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1], flush=True); time.sleep(600)' >"$DIR/port" 3>&- &
    server=$!
    wait_until test -s "$DIR/port"
    FROM="oci://127.0.0.1:$(cat "$DIR/port")/models/{name}" models '"wait": 1'
    asking
    EXPECTED=1 launch
    refused "is not here yet: try again later (being fetched)"
    pid=$(copiers)
    wait_until pgrep -P "$pid"
    child=$(pgrep -P "$pid")
    kill -KILL "$pid"
    wait_until is_gone "$child"
    settled
    kill "$server"
    wait "$server" || true
}

is_gone() { [ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"; }

@test "what is no tar archive, what is not there, and damaged content are refused with the reason" {
    models '"wait": 300'
    push models/raw:stable raw weights=x
    asking raw
    EXPECTED=1 launch
    refused "its type application/vnd.cncf.model.weight.v1.raw is not that of a tar archive"
    asking nothing
    EXPECTED=1 launch
    refused "could not be fetched: "
    push models/damaged:stable model weights=unharmed
    local blob
    blob=$(grep -rl unharmed "$BATS_FILE_TMPDIR/registry/root")
    sed -i s/unharmed/tampered/ "$blob"
    asking damaged
    EXPECTED=1 launch
    refused "sha256"
    run ! has_entry
    has_no_part
    asking Upper
    EXPECTED=1 launch
    refused "a repository has lowercase letters"
}

@test "root's credentials open a private repository, over TLS" {
    push models/private:stable model weights=secret
    mkdir -p "$BATS_FILE_TMPDIR/tls" "$DIR/home/.docker"
    ln -s "$BATS_FILE_TMPDIR/registry/root" "$BATS_FILE_TMPDIR/tls/root"
    registry_start_tls "$BATS_FILE_TMPDIR/tls" lab secret
    export SSL_CERT_FILE=$BATS_FILE_TMPDIR/tls/ca.pem
    models '"wait": 300'
    asking private
    EXPECTED=1 launch
    refused "could not be fetched: "
    printf '{"auths":{"%s":{"auth":"%s"}}}' "$REGISTRY" "$(printf lab:secret | base64)" >"$DIR/home/.docker/config.json"
    # shellcheck disable=SC2016
    unshare --mount --propagation private bash -c 'mount --bind "$1" /root && shift && exec "$@"' bash "$DIR/home" \
        "$FLATBED" stage --policy "$DIR/policy.json" --wait models=private
    [ "$(content weights)" = secret ]
}

@test "max and a full disk bound what is fetched" {
    head -c 24M /dev/zero >"$DIR/weights"
    push models/large:stable weights "weights=@$DIR/weights"
    models '"wait": 300, "max": "16m"'
    asking large
    EXPECTED=1 launch
    refused 'more than "max" leaves'
    has_no_part
    rm -f "$CACHE"/.failed-*
    mount -t tmpfs -o size=16m,mode=0700 none "$CACHE"
    models '"wait": 300'
    EXPECTED=1 launch
    refused "could not be fetched: "
    run ! has_entry
    has_no_part
}

@test "kill -9 of the copier or of flatten leaves nothing that counts" {
    local i pid
    head -c 40M /dev/urandom >"$DIR/weights"
    push models/killed:stable model "weights=@$DIR/weights"
    models
    asking killed
    for i in 1 2 3 4; do
        run "$FLATBED_RUNTIME" "--flatbed-policy=$DIR/policy.json" --root "$DIR/state" create --bundle "$BUNDLE" c1
        wait_until is_copying_or_done
        sleep "0.$((RANDOM % 5))"
        for pid in $(copiers); do
            [ $((i % 2)) -eq 0 ] || kill -KILL $(pgrep -P "$pid") 2>/dev/null || true
            [ $((i % 2)) -eq 1 ] || kill -KILL "$pid" 2>/dev/null || true
        done
        settled
        rm -f "$CACHE"/.failed-*
        if has_entry; then break; fi
    done
    stage --wait models=killed
    [ "$status" -eq 0 ]
    cmp "$DIR/weights" "$(tree)/weights"
    has_no_part
}

is_copying_or_done() { is_copying || has_entry; }

@test "mistakes in the policy are named" {
    local from stage class expected
    while IFS='|' read -r from stage class expected; do
        FROM=$from models "$stage" ${class:+"$class"}
        asking
        EXPECTED=1 launch || { echo "for $from $stage $class"; return 1; }
        [[ $stderr == *"policy.json:"*"$expected"* ]] || { echo "expected: $expected"; return 1; }
    done <<'LIST'
oci://models/{name}|||the registry must be written out, as in
oci://{name}/models|||without a variable
oci://{name}.lab/models|||without a variable
oci://r.lab:5000/Models/{name}|||lowercase
oci://r.lab/m/{name}@{name}|||a digest is
oci://r.lab/m/{name}:.x|||a tag has
oci://r.lab|||written out
http://r.lab/m/{name}|||a source in a registry is oci://
oci://r.lab/m/{name}||"access": "rw"|a copy is read-only
oci://r.lab/m/{name}||"options": ["suid"]|nosuid
oci://r.lab/m/{name}||"create": {}|"create"
oci://r.lab/m/{name}||"wait": 5|"wait" in "stage"
oci://r.lab/m/{name}|"bandwidth": "1m"||"bandwidth"
oci://r.lab/m/{name}|"include": ["a"]||"include"
oci://r.lab/m/{name}|"ask": ["off"]||"off"
LIST
    FROM='oci://r.lab/m/{name}' models
    sed -i 's/"stage": .*/"names": ["a"] } } }/' "$DIR/policy.json"
    EXPECTED=1 launch
    [[ $stderr == *'say "stage"'* ]]
    # check looks for no such directory on the host.
    models '"max": "1g"' '"names": ["a"]'
    sed -i "s|$REGISTRY|registry.lab|" "$DIR/policy.json"
    run "$FLATBED" check "$DIR/policy.json"
    echo "$output"
    [[ $output == *"0 errors, 0 warnings"* ]]
    # flatten is looked for beside flatbed.
    cp "$FLATBED" "$DIR/flatbed"
    run "$DIR/flatbed" check "$DIR/policy.json"
    [ -e /usr/bin/flatten ] || [[ $output == *"[flatten-missing]"* ]]
}
