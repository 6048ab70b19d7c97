#!/usr/bin/env bats
# The policy's "binds" and "security" under a real dockerd: ordinary containers run, access to
# the host is refused, and docker shows the reason.

bats_require_minimum_version 1.5.0

load lib/frame
frame docker

file_require() { require_tool python3; }

policy() { guard; }

# guard [TOP-MEMBERS]: the sections of the example, for directories of this test.
guard() {
    policy_write <<END
{
  "version": 1, ${1-}
  "runtime": { "paths": ["runc"] },
  "volumes": { "data": { "source": "$FB_SRV/data/{name}", "target": "/workspace/data/{name}" } },
  "binds": {
    "default": "deny",
    "rules": [
      { "path": "$FB_SRV/home/{uid}", "access": "allow", "options": ["nosuid", "nodev"] },
      { "path": "$FB_SRV/data", "access": "ro" },
      { "path": "$FB_DIR/docker.sock", "access": "deny", "say": "the Docker socket is root on this host" },
      { "path": "$FB_DIR/docker/volumes", "access": "allow", "require_access": false },
      { "path": "$FB_DIR/docker/containers", "access": "allow", "require_access": false }
    ],
    "require_access": true,
    "targets_deny": ["/", "/proc", "/sys", "/dev", "/etc/ld.so.preload"]
  },
  "security": {
    "privileged": "deny",
    "user": { "root": "deny", "say": "run with --user" },
    "capabilities": { "max": ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID", "KILL"], "drop": ["NET_RAW"] },
    "no_new_privileges": true,
    "seccomp": { "require": true, "deny": ["mount", "bpf", "userfaultfd"] },
    "namespaces": { "host": [] },
    "devices": { "allow": ["/dev/nvidia*"] },
    "annotations": { "deny": ["run.oci.*"] },
    "hooks": "deny"
  }
}
END
}

worker() { docker_run --rm --user 1234:1234 "$@"; }

# refuses REGEX ARGS…: docker run fails and shows the message.
refuses() {
    local tells=$1
    shift
    run worker "$@" "$FB_IMAGE" true
    expect_failure
    expect_match 'OCI runtime create failed'
    expect_match "$tells"
}

@test "docker: an ordinary container runs, with fewer capabilities and no new privileges" {
    run worker "$FB_IMAGE" sh -c 'grep -E "CapBnd|NoNewPrivs" /proc/self/status; id -u'
    expect_status 0
    expect_match 'CapBnd:[[:space:]]*00000000000000eb'
    expect_match 'NoNewPrivs:[[:space:]]*1'
    expect_match '1234$'
}

@test "docker: root is refused" {
    run docker_run --rm "$FB_IMAGE" true
    expect_failure
    expect_match "would be root on this host: run with --user"
}

@test "docker: the user's directory, shared data read-only, and a volume" {
    echo "own text" >"$FB_SRV/home/1234/hello"
    run worker -v "$FB_SRV/home/1234:/home" -v "$FB_SRV/data:/data" -v named:/vol --tmpfs /scratch "$FB_IMAGE" \
        sh -c 'cat /home/hello && echo new >/home/new && cat /data/imagenet/hello && ! touch /data/imagenet/new && grep " /home " /proc/mounts'
    expect_status 0
    expect_match 'own text'
    expect_match 'imagenet text'
    expect_match 'Read-only file system'
    expect_match 'nosuid,nodev'
    expect_equal "$(cat "$FB_SRV/home/1234/new")" new
    docker_cli volume rm named >/dev/null
}

@test "docker: mounts and volumes below the user's directory, and below a volume" {
    run worker -v "$FB_SRV/home/1234:/home" -v "$FB_SRV/data:/home/data" -v named:/vol -v deep:/vol/deep -v /home/anonymous \
        "$FB_IMAGE" sh -c 'cat /home/data/imagenet/hello; grep -cE " /home/anonymous | /vol/deep " /proc/mounts'
    expect_status 0
    expect_output $'imagenet text\n2'
    ln -s /etc "$FB_SRV/home/1234/link"
    refuses "a symbolic link in what is mounted on /home" -v "$FB_SRV/home/1234:/home" -v named:/home/link/ld.so.preload
    rm "$FB_SRV/home/1234/link"
    docker_cli volume rm named deep >/dev/null
}

@test "docker: --init needs no rule" {
    run worker --init "$FB_IMAGE" id -u
    expect_status 0
    expect_output 1234
}

@test "docker: -v /:/host is refused" { refuses "the mount of / on /host: / is not allowed" -v /:/host; }

@test "docker: -v /etc is refused, with the volumes that are offered" {
    refuses "/etc is not allowed: no rule contains it .*; these volumes are offered: flatbed.data" -v /etc:/x
}

@test "docker: the Docker socket is refused, and so is its directory" {
    refuses "docker.sock is not allowed: the Docker socket is root on this host" -v "$FB_DIR/docker.sock:/s"
    refuses "$FB_DIR is not allowed" -v "$FB_DIR:/s"
}

@test "docker: a volume that is a bind of /etc is refused" {
    docker_cli volume create --driver local -o type=none -o o=bind -o "device=$(guard_secret)" sly >/dev/null
    refuses "/secret is not allowed" -v sly:/x
    docker_cli volume rm sly >/dev/null
}

@test "docker: a volume with its own file system is refused, except for a tmpfs" {
    docker_cli volume create --driver local -o type=proc -o device=proc sly >/dev/null
    refuses "sly/_data is a proc file system that was mounted for a volume" -v sly:/x
    docker_cli volume rm sly >/dev/null
    docker_cli volume create --driver local -o type=tmpfs -o device=tmpfs memory >/dev/null
    run worker -v memory:/x "$FB_IMAGE" grep ' /x ' /proc/mounts
    expect_match '^tmpfs /x tmpfs'
    docker_cli volume rm memory >/dev/null
}

@test "docker: volumes of other containers and mounts with options are judged by what they show" {
    docker_cli volume create --driver local -o type=none -o o=bind -o "device=$(guard_secret)" sly >/dev/null
    docker_cli create --name first -v sly:/x -v "$FB_SRV/data:/data" "$FB_IMAGE" >/dev/null
    refuses "/secret is not allowed" --volumes-from first
    refuses "/secret is not allowed" --mount "type=volume,source=new,target=/x,volume-opt=type=none,volume-opt=o=bind,volume-opt=device=$(guard_secret)"
    refuses "/etc is not allowed" --mount "type=bind,source=/etc,target=/x,readonly,bind-nonrecursive"
    refuses "nothing may be mounted over /dev" --mount type=tmpfs,target=/dev/x
    refuses "/etc is not allowed" -v /etc:/x:z
    run worker --mount "type=bind,source=$FB_SRV/data,target=/x,readonly,bind-nonrecursive" --tmpfs /t:exec,suid,dev,size=1m \
        "$FB_IMAGE" sh -c 'cat /x/imagenet/hello; grep CapEff /proc/self/status'
    expect_status 0
    expect_match 'imagenet text'
    expect_match 'CapEff:[[:space:]]*0000000000000000'
    docker_cli rm first >/dev/null
    docker_cli volume rm sly >/dev/null
    docker_cli volume rm new >/dev/null 2>&1 || true
}

@test "docker: its own state is refused, and mounts for another container are not visible" {
    docker_cli volume create --driver local -o type=none -o o=bind -o "device=$(guard_secret)" sly >/dev/null
    docker_cli run --detach --runtime=runc --network=none --name holder -v sly:/x "$FB_IMAGE" sleep 600 >/dev/null
    refuses "docker/volumes is an engine's own state" -v "$FB_DIR/docker/volumes:/v"
    refuses "docker/containers is an engine's own state" -v "$FB_DIR/docker/containers:/v"
    sed -i "s|$FB_DIR/docker/volumes\"|$FB_DIR/docker/volumes/sly\"|" "$FB_POLICY"
    run worker -v "$FB_DIR/docker/volumes/sly:/v" "$FB_IMAGE" ls /v/_data
    expect_status 0
    expect_output ''
    docker_cli rm --force holder >/dev/null
    docker_cli volume rm sly >/dev/null
}

@test "docker: a mount over /proc or /dev is refused" {
    refuses "nothing may be mounted over /dev" -v "$FB_SRV/data:/dev/x"
    refuses "where /proc/self/attr leads cannot be told" --tmpfs /proc/self/attr
    refuses "nothing may be mounted over /etc/ld.so.preload" --tmpfs /etc
}

@test "docker: another user's directory is refused by require_access" {
    mkdir -p "$FB_SRV/data/closed"
    chmod 0700 "$FB_SRV/data/closed"
    refuses "may not read $FB_SRV/data/closed on this host" -v "$FB_SRV/data/closed:/x"
}

@test "docker: a container and an exec start only where their user may be" {
    local box
    mkdir -p "$FB_SRV/data/closed/open" "$FB_SRV/data/of-all"
    chmod 0700 "$FB_SRV/data/closed"
    refuses "the container's user may not enter /d/closed/open" -v "$FB_SRV/data:/d" -w /d/closed/open
    run worker -v "$FB_SRV/data:/d" -w /d/of-all "$FB_IMAGE" pwd
    expect_output /d/of-all
    box=$(worker -d -v "$FB_SRV/data:/d" -w /d/of-all "$FB_IMAGE" sleep 600)
    run docker_cli exec "$box" pwd
    expect_output /d/of-all
    run docker_cli exec -w /d/closed/open "$box" pwd
    expect_failure
    expect_match "the container's user may not enter /d/closed/open"
    run docker_cli exec -w /d/missing "$box" pwd
    expect_failure
    expect_match "process.cwd: /d/missing: No such file or directory"
    run docker_cli exec -w /tmp "$box" pwd
    expect_output /tmp
    # A volume of the policy: what is missing is not made, and a refused start leaves nothing behind.
    refuses "the runtime would make /workspace/data/imagenet/new in a mount, as root" \
        -v /dev/null:/run/flatbed/request/data/imagenet -w /workspace/data/imagenet/new
    [ ! -e "$FB_SRV/data/imagenet/new" ]
}

shims() { pgrep -f "containerd-shim.*$FB_DIR" | wc -l; }
has_shims() { [ "$(shims)" -eq "$1" ]; }

@test "docker: a start that is refused leaves neither a process nor a shim" {
    local before swapper i told=0
    mkdir -p "$FB_SRV/data/closed/open" "$FB_SRV/home/1234/sub"
    chmod 0700 "$FB_SRV/data/closed"
    ln -s /d/closed/open "$FB_SRV/home/1234/link"
    before=$(shims)
    python3 -B "$BATS_TEST_DIRNAME/lib/exchange.py" "$FB_SRV/home/1234/sub" "$FB_SRV/home/1234/link" 3>&- &
    swapper=$!
    for ((i = 0; i < 100 && told < 2; i++)); do
        run worker -v "$FB_SRV/data:/d" -v "$FB_SRV/home/1234:/h" -w /h/sub "$FB_IMAGE" pwd
        [[ $output != *"OCI runtime start failed"*"may not enter"* ]] || told=$((told + 1))
    done
    kill "$swapper"
    wait "$swapper" || true
    echo "refused at the start $told of $i, last: $output"
    [ "$told" -gt 0 ]
    wait_for has_shims "$before"
}

@test "docker: --privileged is refused" { refuses "the container is privileged" --privileged; }

@test "docker: --cap-add SYS_ADMIN is refused: the filter then allows mount" {
    refuses "the container's filter allows mount, bpf" --cap-add SYS_ADMIN
}

@test "docker: a capability beyond max is removed" {
    run worker --cap-add NET_ADMIN "$FB_IMAGE" grep CapBnd /proc/self/status
    expect_status 0
    expect_match '00000000000000eb'
}

@test "docker: seccomp=unconfined is refused" {
    refuses "no filter for system calls" --security-opt seccomp=unconfined
}

@test "docker: systempaths=unconfined is refused" {
    sed -i 's/"privileged": "deny",/"privileged": "deny", "system_paths": "deny",/' "$FB_POLICY"
    run worker "$FB_IMAGE" true
    expect_status 0
    refuses "nothing keeps the container from /proc/sys" --security-opt systempaths=unconfined
}

@test "docker: the host's namespaces are refused" {
    refuses "the host's pid namespace" --pid=host
    refuses "the host's ipc namespace" --ipc=host
    refuses "the host's uts namespace" --uts=host
    run docker_cli run --runtime=flatbed --rm --user 1234 --network=host "$FB_IMAGE" true
    expect_failure
    expect_match "the host's net namespace"
}

@test "docker: another container's namespaces are not the host's" {
    docker_run --detach --user 1234 --name other "$FB_IMAGE" sleep 600 >/dev/null
    run worker --pid=container:other "$FB_IMAGE" ps
    expect_status 0
    expect_match 'sleep 600'
}

@test "docker: a device is refused under every name" {
    [ -e /dev/kmsg ] || skip "no /dev/kmsg"
    refuses "/dev/nvidia0 \(c 1:11\) is not allowed" --device /dev/kmsg:/dev/nvidia0
    refuses "could use the device b" --device-cgroup-rule 'b 8:* rwm'
}

@test "docker: a cgroup outside of those that the policy names is refused" {
    sed -i 's|"hooks": "deny"|&, "cgroups": { "parents": ["/docker", "/docker/*", "system.slice"] }|' "$FB_POLICY"
    run worker "$FB_IMAGE" true
    expect_status 0
    refuses "security.cgroups: the container's cgroup would be in '/'" --cgroup-parent=/
    refuses "security.cgroups: the container's cgroup would be in '/elsewhere'" --cgroup-parent=/elsewhere
}

@test "docker: an exec gets no more privileges than its container" {
    docker_run --detach --user 1234:1234 --name held "$FB_IMAGE" sleep 600 >/dev/null
    run docker_cli exec held sh -c 'grep -E "CapBnd|NoNewPrivs" /proc/self/status; id -u'
    expect_status 0
    expect_match 'CapBnd:[[:space:]]*00000000000000eb'
    expect_match 'NoNewPrivs:[[:space:]]*1'
    expect_match '1234$'
    run docker_cli exec -u 4321 held id -u
    expect_status 0
    expect_output 4321
    run docker_cli exec -u 0 held true
    expect_failure
    expect_match 'security.user: the process would be root on this host: run with --user'
    # A privileged exec loses its additional privileges, and is like any other.
    run docker_cli exec --privileged held grep CapBnd /proc/self/status
    expect_match '00000000000000eb'
}

@test "docker: a privileged exec is refused where capabilities are not bounded" {
    sed -i '/"capabilities":/d' "$FB_POLICY"
    docker_run --detach --user 1234:1234 --name held "$FB_IMAGE" sleep 600 >/dev/null
    run docker_cli exec held true
    expect_status 0
    run docker_cli exec --privileged held true
    expect_failure
    expect_match 'an exec may not have more than its container, leave out --privileged .*CAP_SYS_ADMIN'
}

@test "docker: permissive runs all of them unchanged" {
    guard '"mode": "permissive",'
    run docker_run --rm --pid=host --security-opt seccomp=unconfined -v /etc:/x "$FB_IMAGE" sh -c 'test -e /x/passwd && id -u'
    expect_status 0
    expect_output 0
}

@test "docker: a user whom the image does not know has a name and HOME, in run and in exec" {
    local id
    guard '"user": { "passwd": true, "home": "/home/{user}", "groups": "user" },'
    id=$(docker_cli create "$FB_IMAGE")
    mkdir -p "$FB_DIR/etc/etc"
    echo 'root:x:0:0:root:/root:/bin/sh' >"$FB_DIR/etc/etc/passwd"
    echo 'root:x:0:' >"$FB_DIR/etc/etc/group"
    docker_cli cp "$FB_DIR/etc/etc" "$id:/"
    docker_cli commit "$id" fb-user >/dev/null
    docker_cli rm "$id" >/dev/null
    # shellcheck disable=SC2016  # for the container's shell
    run worker --read-only -v "$FB_SRV/home/1234:/home/1234" fb-user sh -c 'whoami; id -gn; echo $HOME; cat /etc/passwd'
    expect_status 0
    expect_output $'1234\n1234\n/home/1234\nroot:x:0:0:root:/root:/bin/sh\n1234:x:1234:1234:1234:/home/1234:/bin/sh'
    id=$(docker_run -d --user 1234:1234 -v "$FB_SRV/home/1234:/home/1234" fb-user sleep 600)
    # shellcheck disable=SC2016
    run docker_cli exec "$id" sh -c 'whoami; echo $HOME'
    expect_status 0
    expect_output $'1234\n/home/1234'
    # The container's files are the image's: nothing was written there.
    run docker_cli diff "$id"
    expect_no_match '/etc/passwd'
    docker_cli rm -f "$id" >/dev/null
    docker_cli rmi fb-user >/dev/null
}
