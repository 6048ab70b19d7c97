#!/usr/bin/env bats
# The recipe of flatbed(8) that closes `docker run --runtime=runc`: the program runc is diverted, and
# its name leads to flatbed-runtime. Everything happens in a mount namespace whose /usr and /etc are
# overlays; the host's are only read.

bats_require_minimum_version 1.5.0

load lib/frame
frame
load lib/bundle
load lib/docker

file_require() {
    docker_require
    require_tool gojq dpkg-divert
    overlay_works || refuse "no overlay mounts on $FB_DIR"
}

policy() { policy_base /usr/lib/flatbed/runc; }

file_ready() {
    diverted >"$FB_DIR/bin/diverted"
    printf '#!/bin/sh\nexec "%s/bin/diverted" "%s" "$@"\n' "$FB_DIR" "$DOCKERD" >"$FB_DIR/bin/dockerd"
    chmod 0755 "$FB_DIR/bin/diverted" "$FB_DIR/bin/dockerd"
}

file_end() { docker_stop; }

host_runc() { stat -Lc '%d:%i %s' /usr/sbin/runc; ls -l /usr/sbin/runc; }
test_begin() { before=$(host_runc); }
test_end() { expect_equal "$before" "$(host_runc)"; }

# shellcheck disable=SC2154  # status and output are set by bats' run

# Prints a program that diverts runc as in the man page, in its mount namespace, and then executes its arguments.
diverted() {
    cat <<EOF
#!/bin/sh
set -e
dir=\$(mktemp -d '$FB_DIR/divert.XXXXXX')
mkdir \$dir/usr \$dir/usr.work \$dir/etc \$dir/etc.work \$dir/dpkg \$dir/dpkg/info \$dir/dpkg/updates
: >\$dir/dpkg/status
mount -t overlay -o lowerdir=/usr,upperdir=\$dir/usr,workdir=\$dir/usr.work none /usr
mount -t overlay -o lowerdir=/etc,upperdir=\$dir/etc,workdir=\$dir/etc.work none /etc
real=\$(readlink -f /usr/sbin/runc)
mkdir -p /usr/lib/flatbed /etc/flatbed
dpkg-divert --admindir \$dir/dpkg --divert /usr/lib/flatbed/runc --rename --add /usr/sbin/runc >/dev/null
ln -s '$FLATBED_RUNTIME' /usr/sbin/runc
cp '$FB_POLICY' /etc/flatbed/policy.json
chmod 0644 /etc/flatbed/policy.json
exec "\$@"
EOF
}

@test "divert: the command runc applies the policy, and executes the real runc" {
    local bundle
    bundle=$(bundle_make plain '{"flatbed.data":"imagenet"}' 'cat /workspace/site/hello /workspace/data/imagenet/hello')
    run unshare --mount --propagation private "$FB_DIR/bin/diverted" \
        runc --root "$FB_DIR/state" run --bundle "$bundle" plain
    expect_status 0
    expect_output $'site text\nimagenet text'
    bundle=$(bundle_make refused '{"flatbed.data":"secret"}' true)
    run unshare --mount --propagation private "$FB_DIR/bin/diverted" \
        runc --root "$FB_DIR/state" run --bundle "$bundle" refused
    expect_failure
    expect_match "'secret' is not offered"
    run unshare --mount --propagation private "$FB_DIR/bin/diverted" runc --version
    expect_status 0
    expect_match '^runc version'
    bundle_remove_all
}

@test "divert: the policy applies to docker run --runtime=runc" {
    DOCKERD=$FB_DIR/bin/dockerd docker_start
    run docker_cli run --rm --network=none --runtime=runc "$FB_IMAGE" cat /workspace/site/hello
    expect_status 0
    expect_output "site text"
    run docker_cli run --rm --network=none -e FLATBED_DATA=secret --runtime=runc "$FB_IMAGE" true
    expect_failure
    expect_match "'secret' is not offered"
    run docker_cli run --rm --network=none "$FB_IMAGE" cat /workspace/site/hello
    expect_output "site text"
    # BuildKit always executes the program named runc, with any default runtime.
    mkdir -p "$FB_DIR/build"
    printf 'FROM %s\nRUN cat /workspace/site/hello\n' "$FB_IMAGE" >"$FB_DIR/build/Dockerfile"
    DOCKER_BUILDKIT=1 run docker_cli build --progress plain --network none "$FB_DIR/build"
    expect_status 0
    expect_match 'site text'
    docker_remove_all
    docker_stop
}

@test "divert: resolv.conf and hosts of BuildKit are the engine's own in a build, and for nobody else" {
    policy_write <<END_OF_POLICY
{ "version": 1, "runtime": { "paths": ["/usr/lib/flatbed/runc"] }, "binds": { "default": "deny" } }
END_OF_POLICY
    DOCKERD=$FB_DIR/bin/dockerd docker_start
    mkdir -p "$FB_DIR/build"
    printf 'FROM %s\nRUN grep -c . /etc/hosts && test -e /etc/resolv.conf && echo built\n' "$FB_IMAGE" >"$FB_DIR/build/Dockerfile"
    DOCKER_BUILDKIT=1 run docker_cli build --progress plain --network none --add-host lab:10.0.0.1 "$FB_DIR/build"
    expect_status 0
    expect_match 'built'
    DOCKER_BUILDKIT=1 run docker_cli build --progress plain --network none --no-cache "$FB_DIR/build"
    expect_status 0
    run docker_cli run --rm --network=none -v "$FB_DIR/docker/buildkit/executor/resolv.conf:/x" "$FB_IMAGE" true
    expect_failure
    expect_match 'buildkit/executor/resolv.conf'
    policy_write <<END_OF_POLICY
{ "version": 1, "runtime": { "paths": ["/usr/lib/flatbed/runc"] }, "binds": { "preset": "shared-lab" }, "security": { "preset": "shared-lab" } }
END_OF_POLICY
    docker_stop
    DOCKERD=$FB_DIR/bin/dockerd docker_start
    printf 'FROM %s\nUSER 1001:1001\nRUN echo "step of $(id -u)"\n' "$FB_IMAGE" >"$FB_DIR/build/Dockerfile"
    DOCKER_BUILDKIT=1 run docker_cli build --progress plain --network none --no-cache "$FB_DIR/build"
    expect_status 0
    expect_match 'step of 1001'
    docker_remove_all
    docker_stop
}

@test "divert: dpkg-divert undoes it" {
    # shellcheck disable=SC2016
    run unshare --mount --propagation private "$FB_DIR/bin/diverted" sh -c '
        rm /usr/sbin/runc
        dpkg-divert --admindir "$(dirname "$1"/divert.*/dpkg/status | tail -n 1)" --rename --remove /usr/sbin/runc
        test -f /usr/sbin/runc && test ! -e /usr/lib/flatbed/runc && runc --version' sh "$FB_DIR"
    expect_status 0
    expect_match 'runc version'
}
