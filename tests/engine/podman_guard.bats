#!/usr/bin/env bats
# The policy's "binds" and "security" under podman and crun: the files of podman need one rule.

bats_require_minimum_version 1.5.0

load lib/frame
frame podman

file_require() { require_tool crun gojq; }

policy() { guard; }

# guard [TOP-MEMBERS]
guard() {
    policy_write <<END
{
  "version": 1,
  "runtime": { "paths": ["crun"] }, ${1-}
  "binds": {
    "default": "deny",
    "rules": [
      { "path": "$FB_SRV/data", "access": "ro" },
      { "path": "$FB_DIR/podman", "access": "allow" }
    ],
    "targets_deny": ["/", "/proc", "/sys", "/dev"]
  },
  "security": {
    "privileged": "deny",
    "capabilities": { "max": ["CHOWN", "KILL"] },
    "seccomp": { "require": true, "deny": ["bpf"] },
    "namespaces": { "host": ["net"] },
    "devices": { "allow": [] },
    "annotations": { "deny": ["run.oci.*"] }
  }
}
END
}

# refuses REGEX ARGS…
refuses() {
    local tells=$1
    shift
    run podman_run --rm "$@" "$FB_IMAGE" true
    expect_failure
    expect_match "$tells"
}

@test "podman: an ordinary container runs, with fewer capabilities" {
    run podman_run --rm -v "$FB_SRV/data:/data" "$FB_IMAGE" \
        sh -c 'cat /data/imagenet/hello; grep CapBnd /proc/self/status; ! touch /data/new'
    expect_status 0
    expect_match 'imagenet text'
    expect_match '0000000000000021'
    expect_match 'Read-only file system'
}

@test "podman: a container and an exec start only where their user may be" {
    mkdir -p "$FB_SRV/data/closed/open" "$FB_SRV/data/of-all"
    chmod 0700 "$FB_SRV/data/closed"
    guard "\"audit\": { \"file\": \"$FB_DIR/audit.jsonl\" },"
    sed -i 's/"default": "deny",/&\n "require_access": true,/' "$FB_POLICY"
    sed -i "s#\"$FB_DIR/podman\", #&\"require_access\": false, #" "$FB_POLICY"
    refuses "process.cwd: the container's user may not enter /d/closed/open" \
        --user 1234:1234 -v "$FB_SRV/data:/d" -w /d/closed/open
    podman_run -d --name where --user 1234:1234 -v "$FB_SRV/data:/d" -w /d/of-all "$FB_IMAGE" sleep 600
    run podman_cli exec where pwd
    expect_output /d/of-all
    run podman_cli exec -w /d/closed/open where pwd
    expect_failure
    expect_match "the container's user may not enter /d/closed/open"
    grep -q '"command":"exec".*may not enter' "$FB_DIR/audit.jsonl"
}

# preset [RULES]: the policy "shared-lab", without a directory of podman's.
preset() {
    policy_write <<END
{ "version": 1, "runtime": { "paths": ["crun"] },
  "binds": { "preset": "shared-lab", "rules": [ { "path": "$FB_SRV/data", "access": "ro" }${1-} ] },
  "security": { "preset": "shared-lab" } }
END
}

@test "podman: under the preset containers run and keep podman's files, also those of a joined network" {
    preset
    run podman_run --rm --user 1001:1001 -v "$FB_SRV/data:/data" "$FB_IMAGE" \
        sh -c 'cat /data/imagenet/hello /etc/hosts /run/.containerenv; touch /dev/shm/x && grep Cap /proc/self/status'
    expect_status 0
    expect_match 'imagenet text'
    expect_match 'CapBnd:[[:space:]]*0000000000000400'
    podman_run --detach --user 1001:1001 --name first "$FB_IMAGE" sleep 600 >/dev/null
    run podman_cli run --rm --user 1001:1001 --network=container:first --ipc=container:first "$FB_IMAGE" sh -c 'cat /etc/hosts; touch /dev/shm/y'
    expect_status 0
}

@test "podman: under the preset volumes are mounted below volumes and below a user's directory" {
    preset ", { \"path\": \"$FB_DIR/podman/volumes\", \"access\": \"allow\", \"require_access\": false }"
    mkdir -p "$FB_SRV/data/sub"
    run podman_run --rm --user 1001:1001 -v one:/vol -v two:/vol/two -v "$FB_SRV/data:/data" -v three:/data/sub "$FB_IMAGE" \
        sh -c 'cat /data/imagenet/hello; grep -cE " /vol/two | /data/sub " /proc/mounts'
    expect_status 0
    expect_output $'imagenet text\n2'
    refuses "uids 100[12] to 1002 of this host, which it could become" --uidmap 0:1001:1 --uidmap 1:1002:1 --gidmap 0:1001:1 \
        -v "$FB_SRV/data:/data"
    refuses "on /data: it is rshared" --user 1001:1001 -v "$FB_SRV/data:/data:rshared"
    refuses "/data is read-only, and has no 'new'" --user 1001:1001 -v "$FB_SRV/data:/data" -v two:/data/new
    [ ! -e "$FB_SRV/data/new" ]
    podman_cli volume rm one two three >/dev/null
}

@test "podman: under the preset every kind of mount is judged by what it shows" {
    preset ", { \"path\": \"$FB_DIR/podman/volumes\", \"access\": \"allow\", \"require_access\": false }"
    podman_cli volume create --opt type=none --opt o=bind --opt "device=$(guard_secret)" sly >/dev/null
    refuses "/secret is not allowed" --user 1001:1001 -v sly:/x
    podman_run --name first --user 1001:1001 -v "$FB_SRV/data:/data" "$FB_IMAGE" true
    run podman_run --rm --user 1001:1001 --volumes-from first "$FB_IMAGE" cat /data/imagenet/hello
    expect_status 0
    refuses "/etc is not allowed" --user 1001:1001 --mount type=bind,source=/etc,target=/x,bind-nonrecursive
    refuses "overlay|is not allowed" --user 1001:1001 --mount "type=image,source=$FB_IMAGE,target=/x,rw=true"
    refuses 'it is an overlay' --user 1001:1001 -v /etc:/x:O
    refuses "nothing may be mounted over /dev" --user 1001:1001 --mount type=tmpfs,target=/dev/x
    refuses "nothing may be mounted over /proc" --user 1001:1001 --tmpfs /proc/x
    echo secret | podman_cli secret create s1 - >/dev/null
    run podman_run --rm --user 1001:1001 --secret s1,uid=1001,mode=0400 --tmpfs /t:exec,suid,dev,size=1m "$FB_IMAGE" cat /run/secrets/s1
    expect_status 0
    expect_output secret
    refuses "nothing may be mounted over /proc" --user 1001:1001 --secret s1,target=/proc/x
    podman_cli rm first >/dev/null
    podman_cli secret rm s1 >/dev/null
    podman_cli volume rm sly >/dev/null
}

@test "podman: under the preset a root of the host is judged as a mount" {
    preset ", { \"path\": \"$FB_DIR/roots\", \"access\": \"ro\" }"
    mkdir -p "$FB_DIR/roots/one"
    tar -C "$FB_DIR/rootfs" -c . | tar -C "$FB_DIR/roots/one" -x
    for where in / "$FB_SRV"; do
        run podman_run --rm --user 1001:1001 --rootfs "$where" true
        expect_failure
        expect_match "the container's root $where: .*is not allowed|the container's root $where: .*only be used read-only"
    done
    run podman_run --rm --user 1001:1001 --rootfs "$FB_DIR/roots/one:O" true
    expect_failure
    expect_match "is an overlay, which may show any directory|is not allowed"
    run podman_run --rm --user 1001:1001 --rootfs "$FB_DIR/roots/one" true
    expect_failure
    expect_match "may only be used read-only: add --read-only"
    run podman_run --rm --user 1001:1001 --read-only --rootfs "$FB_DIR/roots/one" id -u
    expect_failure
    expect_match "tmpcopyup would copy a directory of the container's root.*--read-only-tmpfs=false"
    run podman_run --rm --user 1001:1001 --read-only --read-only-tmpfs=false --tmpfs /tmp:notmpcopyup --rootfs "$FB_DIR/roots/one" id -u
    expect_status 0
    expect_output 1001
    chown 1001 "$FB_DIR/roots/one"
    run podman_run --rm --user 1001:1001 --read-only --read-only-tmpfs=false --rootfs "$FB_DIR/roots/one" true
    expect_failure
    expect_match "the container's root $FB_DIR/roots/one: users can change $FB_DIR/roots/one"
}

@test "podman: under the preset the root of another container is refused" {
    local root
    preset
    podman_run --detach --name fb-other --user 1002:1002 "$FB_IMAGE" sleep 1000 >/dev/null
    root=$(podman_cli inspect --format '{{.GraphDriver.Data.MergedDir}}' fb-other)
    run podman_run --rm --user 1001:1001 --read-only --read-only-tmpfs=false --rootfs "$root" id -u
    expect_failure
    expect_match "the container's root $root.*is not allowed: it is an engine's own state"
    podman_cli rm --force --time 0 fb-other >/dev/null
}

@test "podman: run and exec without input do not give the host's null device to the container" {
    local low node=$FB_DIR/null
    mknod -m 0666 "$node" c 1 3
    echo containers:300000:200000 >"$FB_DIR/subids"
    # shellcheck disable=SC2016,SC2034  # for that shell; podman_cli has it
    PODMAN_IN=(unshare --mount --propagation private sh -ec 'cd "$0"; mount --bind null /dev/null; for f in uid gid; do
        mount --bind subids /etc/sub$f; done; exec "$@"' "$FB_DIR")
    for low in crun runc; do
        preset_of "$low"
        podman_run --detach --name fb-null --user 1001:1001 "$FB_IMAGE" sleep 1000 >/dev/null
        run podman_cli exec fb-null sh -c 'chmod 600 /proc/self/fd/0; test ! -s /dev/stdin; echo is read'
        expect_match 'is read'
        expect_equal "$(stat -c '%u:%g %a' "$node")" "0:0 666"
        podman_cli rm --force --time 0 fb-null >/dev/null
        run podman_run --rm --uidmap 0:300000:65536 --gidmap 0:300000:65536 "$FB_IMAGE" sh -c \
            'chmod 600 /proc/self/fd/0; echo is read'
        expect_match 'is read'
        expect_equal "$(stat -c '%u:%g %a' "$node")" "0:0 666"
    done
    # shellcheck disable=SC2034
    PODMAN_IN=()
}

# preset_of LOW: the preset, before that low-level runtime.
preset_of() {
    preset
    sed -i "s#\"paths\": \[\"crun\"\]#\"paths\": [\"$1\"]#" "$FB_POLICY"
}

@test "podman: under the preset a container with mapped ids gets the rules for devices that podman leaves out" {
    local low script='for node in /disk /dev/null; do (: <$node) && echo "$node opens"; done; cat /proc/self/uid_map'
    mkdir -p "$FB_DIR/nodes/etc"
    cp -a "$FB_DIR/rootfs/." "$FB_DIR/nodes/"
    mknod -m 0666 "$FB_DIR/nodes/disk" c 10 229 # /dev/fuse
    tar -C "$FB_DIR/nodes" -c . | podman_cli import - fb-nodes:1 >/dev/null
    echo containers:300000:200000 >"$FB_DIR/subids"
    # shellcheck disable=SC2016,SC2034  # for that shell; podman_cli has it
    PODMAN_IN=(unshare --mount --propagation private sh -ec 'for f in uid gid; do mount --bind "$0" /etc/sub$f; done; exec "$@"' "$FB_DIR/subids")
    for low in crun runc; do
        preset_of "$low"
        run podman_run --rm --uidmap 0:300000:65536 --gidmap 0:300000:65536 fb-nodes:1 sh -c "$script"
        expect_match "can't open /disk: Operation not permitted"
        expect_match "/dev/null opens"
        expect_match " 0 +300000 +65536"
        run podman_run --rm --userns=auto fb-nodes:1 sh -c "$script"
        expect_match "can't open /disk: Operation not permitted"
        expect_match "/dev/null opens"
        expect_match " 0 +3[0-9]{5} "
    done
    refuses "its user namespace has uids 200000 to 265535 of this host" --uidmap 0:200000:65536
    refuses "security.user|security.devices" --uidmap 0:0:65536
    # shellcheck disable=SC2034
    PODMAN_IN=()
    refuses "its user namespace has uids 300000 to 365535 of this host" --uidmap 0:300000:65536 --gidmap 0:300000:65536
    podman_cli rmi fb-nodes:1 >/dev/null
}

@test "podman: under the preset added capabilities, root and files of other containers are refused or taken away" {
    local other
    preset
    run podman_run --rm --user 1001:1001 --cap-add SYS_CHROOT,DAC_OVERRIDE,SETGID "$FB_IMAGE" grep Cap /proc/self/status
    expect_match 'CapAmb:[[:space:]]*0000000000000000'
    expect_match 'CapEff:[[:space:]]*0000000000000000'
    refuses 'filter allows open_by_handle_at' --user 1001:1001 --cap-add DAC_READ_SEARCH
    refuses 'would be root on this host'
    mkdir -p "$FB_DIR/hooks"
    echo '{"version":"1.0.0","hook":{"path":"/usr/bin/touch","args":["touch","/tmp/x"]},"when":{"always":true},"stages":["prestart"]}' >"$FB_DIR/hooks/h.json"
    run podman_cli --hooks-dir "$FB_DIR/hooks" run --rm --network=none --user 1001:1001 "$FB_IMAGE" true
    expect_failure
    expect_match 'security.hooks'
    refuses 'security.devices' --user 1001:1001 --device /dev/full:/dev/x --device /dev/loop0
    other=$(podman_run --detach --user 1001:1001 "$FB_IMAGE" sleep 600)
    refuses 'hosts is not allowed' --user 1001:1001 -v "$FB_DIR/podman/run/overlay-containers/$other/userdata/hosts:/etc/hosts"
    refuses 'shm is not allowed' --user 1001:1001 -v "$FB_DIR/podman/root/overlay-containers/$other/userdata/shm:/x"
    refuses 'is not allowed' --user 1001:1001 -v "$FB_DIR/podman/root:/x"
}

@test "podman: access to the host is refused, and podman shows the reason" {
    refuses "/etc is not allowed" -v /etc:/x
    refuses 'it is an overlay' -v /etc:/x:O
    refuses "the container is privileged" --privileged
    refuses "no filter for system calls" --security-opt seccomp=unconfined
    refuses "the host's pid namespace" --pid=host
    refuses "'run.oci.handler' may not be set" --annotation run.oci.handler=x
}

@test "podman: a user whom the image does not know has HOME, in run and in exec" {
    local id
    guard '"user": { "passwd": true, "home": "/home/{user}", "groups": "user" },'
    mkdir -p "$FB_SRV/data/home"
    chmod 0777 "$FB_SRV/data/home"
    # shellcheck disable=SC2016  # for the container's shell
    run podman_run --rm --user 4242:4242 -v "$FB_SRV/data/home:/home/4242" "$FB_IMAGE" \
        sh -c 'whoami; echo $HOME; grep -c "^[^:]*:[^:]*:4242:" /etc/passwd'
    expect_status 0
    expect_output $'4242\n/home/4242\n1'
    id=$(podman_run -d --user 4242:4242 -v "$FB_SRV/data/home:/home/4242" "$FB_IMAGE" sleep 600)
    # shellcheck disable=SC2016
    run podman_cli exec "$id" sh -c 'whoami; echo $HOME'
    expect_status 0
    expect_output $'4242\n/home/4242'
    podman_cli rm -ft 0 "$id" >/dev/null
}

@test "podman: neither capabilities, idmapped mounts nor annotations make root of another user" {
    policy_write <<END
{
  "version": 1,
  "runtime": { "paths": ["crun"] },
  "security": { "user": { "root": "deny" }, "seccomp": { "deny": ["bpf"] } }
}
END
    run podman_run --rm --user 1001 "$FB_IMAGE" true
    expect_status 0
    refuses "act as root on this host by CAP_DAC_READ_SEARCH" --user 1001 --cap-add DAC_READ_SEARCH,NET_RAW
    refuses "act as root on this host by CAP_BPF [(].*, CAP_SYS_ADMIN" --user 1001 --cap-add all
    refuses "files of the mount on /x can be root's" --user 1001 -v "$FB_SRV/data:/x:idmap=uids=0-1001-1"
    refuses "'run.oci.seccomp_bpf_data' replaces the filter" --user 1001 --annotation run.oci.seccomp_bpf_data=BgAAAAAA/38=
    refuses "'run.oci.hooks.stdout' has root write" --user 1001 --annotation "run.oci.hooks.stdout=$FB_DIR/written"
    [ ! -e "$FB_DIR/written" ]
}

@test "podman: under the preset a step of a build runs as a user, with the files of buildah" {
    preset
    mkdir -p "$FB_DIR/step"
    printf 'FROM %s\nUSER 1001:1001\nRUN test -e /run/.containerenv && echo "built by $(id -u)"\n' "$FB_IMAGE" >"$FB_DIR/step/Dockerfile"
    run podman_cli build --no-cache --network=none "$FB_DIR/step"
    expect_status 0
    expect_match 'built by 1001'
    run podman_cli build --no-cache --network=none -v "$(guard_secret):/secret" "$FB_DIR/step"
    expect_failure
    expect_match 'is not allowed'
}

@test "podman: under the preset the container of a pod itself is refused, and the message says what to do" {
    preset
    podman_cli pod create --infra=false --name loose >/dev/null
    run podman_run --rm --pod loose --user 1001:1001 "$FB_IMAGE" echo in a pod
    expect_status 0
    expect_output "in a pod"
    podman_cli pod rm --force loose >/dev/null
    printf 'FROM %s\nENTRYPOINT ["/catatonit", "-P"]\n' "$FB_IMAGE" >"$FB_DIR/Pause"
    podman_cli build --quiet --tag pause --file "$FB_DIR/Pause" "$FB_DIR" >/dev/null
    podman_cli pod create --network=none --infra-image pause --name whole >/dev/null
    run podman_run --rm --pod whole --user 1001:1001 "$FB_IMAGE" true
    expect_failure
    expect_match 'make the pod with podman pod create --infra=false'
    podman_cli pod rm --force whole >/dev/null
}
