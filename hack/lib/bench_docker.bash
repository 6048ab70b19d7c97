# A private dockerd for bench-flatten: sockets, state and images are below its directory.
# shellcheck shell=bash disable=SC2154

dockerd_pid=""

# A layer that the daemon has already would be unpacked all the same, but the rest of its work would be less: each
# line first removes the image of the line before. The archive is read with a TMPDIR that does not exist.
bench_docker_lines() {
    export DOCKER_HOST=unix://$dir/docker.sock
    local fresh='docker rmi --force bench:flat >/dev/null 2>&1 || true; : START;'
    # shellcheck disable=SC2016
    {
        printf 'docker import of the live bytes\t%s docker import "$LIVE" bench:flat\n' "$fresh"
        printf 'docker export | docker import\t%s docker export bench | docker import - bench:flat\n' "$fresh"
        printf 'flatten archive -> daemon\t%s TMPDIR=$OUT/none "$FLATTEN" -q docker-archive:%q docker-daemon:bench:flat\n' \
            "$fresh" "$image/image.tar"
        printf 'flatten daemon -> daemon\t%s "$FLATTEN" -q docker-daemon:bench:latest docker-daemon:bench:flat\n' "$fresh"
    }
}

# From the daemon's store to the registry of bench_registry.bash. The bound reads the same tree with tar, and compresses it.
bench_docker_registry_lines() {
    local lower
    lower=$(docker --host "unix://$dir/docker.sock" image inspect bench:latest \
        --format '{{.GraphDriver.Data.UpperDir}}:{{.GraphDriver.Data.LowerDir}}')
    cat >"$dir/docker/read" <<END
mkdir "\$OUT/tree"
mount -t overlay -o ro,lowerdir=$lower overlay "\$OUT/tree"
tar -C "\$OUT/tree" -c . | zstd -q -3 -T0 -o "\$OUT/live.zst"
umount "\$OUT/tree"
END
    # shellcheck disable=SC2016
    {
        printf 'tar and zstd -3 -T0 of the tree\tunshare --mount bash -e "$BENCH_DIR/docker/read"\n'
        printf 'flatten daemon -> registry\t"$FLATTEN" -q docker-daemon:bench:latest "docker://$REGISTRY/bench/x${OUT##*.}x:f" --compression=zstd:3\n'
    }
}

# bench_docker_start ARCHIVE: starts dockerd, loads the image, and creates a container of it.
bench_docker_start() {
    [[ $(id -u) -eq 0 ]] || die "--docker needs root"
    say "starting a dockerd and loading the image"
    mkdir "$dir/docker"
    printf '{}\n' >"$dir/docker/daemon.json"
    # shellcheck disable=SC2016
    unshare --mount --propagation private sh -c 'mkdir -p /etc/docker && mount -t tmpfs none /etc/docker && exec "$@"' sh \
        dockerd --config-file "$dir/docker/daemon.json" --host "unix://$dir/docker.sock" \
        --data-root "$dir/docker/data" --exec-root "$dir/docker/exec" --pidfile "$dir/docker/pid" \
        --storage-driver overlay2 --bridge=none --iptables=false --ip-forward=false --ip-masq=false \
        >"$dir/docker/log" 2>&1 &
    dockerd_pid=$!
    for _ in {1..100}; do
        docker --host "unix://$dir/docker.sock" version >/dev/null 2>&1 && break
        sleep 0.2
    done
    docker --host "unix://$dir/docker.sock" load --quiet --input "$1" >/dev/null ||
        die "dockerd: $(tail -n 1 "$dir/docker/log")"
    docker --host "unix://$dir/docker.sock" create --name bench --network=none bench:latest >/dev/null
}

bench_docker_stop() {
    [[ -n $dockerd_pid ]] || return 0
    kill "$dockerd_pid" 2>/dev/null || true
    wait "$dockerd_pid" 2>/dev/null || true
}
