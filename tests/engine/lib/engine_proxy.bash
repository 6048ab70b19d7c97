# shellcheck shell=bash
# A proxy between flatten and the daemon, which counts and stops, and an image of which much is sent.

# images_seen: the Ids of all images in the daemon, intermediate ones included.
images_seen() { docker_cli images --all --quiet --no-trunc | sort -u; }

# large_archive: makes $FB_DIR/large.tar, an image of two layers and 24 MB, once.
large_archive() {
    [ -e "$FB_DIR/large.tar" ] || python3 "$BATS_TEST_DIRNAME/lib/large_image.py" "$FB_DIR/large.tar" 24
}

# proxy_start REQUEST BYTES COMMAND: a proxy of the daemon, at FB_HOST (lib/engine_proxy.py).
proxy_start() {
    rm -f "$FB_DIR/proxy.sock" "$FB_DIR/reached" "$FB_DIR/go"
    python3 "$BATS_TEST_DIRNAME/lib/engine_proxy.py" "$FB_DIR/proxy.sock" "$FB_DIR/docker.sock" "$@" \
        >"$FB_DIR/proxy.log" 2>&1 </dev/null 3>&- &
    export FB_FAKE_PID=$! FB_HOST=unix://$FB_DIR/proxy.sock
    wait_for test -S "$FB_DIR/proxy.sock"
}

# The command of a proxy that waits for $FB_DIR/go.
waits() { echo "touch $FB_DIR/reached; while ! [ -e $FB_DIR/go ]; do sleep 0.05; done"; }

# sent_bytes: prints how much the clients of the proxy have sent, when they have ended.
sent_bytes() { awk '{ sum += $2 } END { print sum + 0 }' "$FB_DIR/proxy.log"; }

# large_load: loads $FB_DIR/large.tar as fb-large:1, two layers of 12 MB.
large_load() {
    large_archive
    docker_cli load --quiet --input "$FB_DIR/large.tar" >/dev/null
    docker_cli tag large:1 fb-large:1
    docker_cli rmi large:1 >/dev/null
}
