# A private docker-registry for bench-flatten, on a loopback port, with its files below the bench's directory.
# shellcheck shell=bash disable=SC2154

registry_pid=""

# bench_registry_start LAYOUT RESULT: starts it, pushes the image, and writes two scripts: flatten from the
# registry to a new repository of it; and the transfer of the same bytes, in as many connections, by curl.
bench_registry_start() {
    local config=$dir/registry/config.yml log=$dir/registry/log
    say "starting a registry and pushing the image"
    mkdir "$dir/registry"
    printf 'version: 0.1\nlog: { level: info }\nstorage: { filesystem: { rootdirectory: %s } }\nhttp: { addr: "127.0.0.1:0" }\n' \
        "$dir/registry/root" >"$config"
    docker-registry serve "$config" >"$log" 2>&1 </dev/null &
    registry_pid=$!
    until grep -q 'listening on 127' "$log"; do
        kill -0 "$registry_pid" || die "docker-registry does not start: $(tail -n 3 "$log")"
        sleep 0.1
    done
    registry=$(grep -o 'listening on 127[0-9.]*:[0-9]*' "$log" | head -n 1)
    registry=${registry##* }
    skopeo copy -q --dest-tls-verify=false "oci:$1:latest" "docker://$registry/bench/in:latest"
    export REGISTRY=$registry RESULT=$2
    for blob in "${blobs[@]}"; do
        printf 'url = http://%s/v2/bench/in/blobs/sha256:%s\noutput = "%s"\n' "$registry" "${blob##*/}" "${blob##*/}"
    done >"$dir/registry/blobs"
    cat >"$dir/registry/transfer" <<'END'
cd "$OUT"
curl -sSf --parallel --parallel-max 4 --config "$BENCH_DIR/registry/blobs"
to=$(curl -sSf -o /dev/null -w '%header{location}' -X POST "http://$REGISTRY/v2/bench/x${OUT##*.}x/blobs/uploads/")
curl -sSf -o /dev/null -X PUT -H 'Content-Type: application/octet-stream' -T "$RESULT" "$to&digest=sha256:${RESULT##*/}"
END
}

# Each run pushes to a repository of its own: a blob that the repository has is not sent again.
bench_registry_lines() {
    # shellcheck disable=SC2016
    printf 'transfer of the blobs\tbash -e "$BENCH_DIR/registry/transfer"\n'
    # shellcheck disable=SC2016
    printf 'flatten registry -> registry\t"$FLATTEN" -q "docker://$REGISTRY/bench/in:latest" "docker://$REGISTRY/bench/x${OUT##*.}x:f" --compression=zstd:3\n'
}

bench_registry_stop() {
    [[ -z $registry_pid ]] || { kill "$registry_pid" && wait "$registry_pid"; } 2>/dev/null || true
    registry_pid=""
}
