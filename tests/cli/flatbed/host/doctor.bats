#!/usr/bin/env bats
# flatbed doctor: the kernel, versions, the policy, ways around it, and what is printed.
# shellcheck disable=SC2154,SC2016,SC2034  # status and output are set by bats' run; inner shells expand; the helpers read variables

bats_require_minimum_version 1.5.0

load doctor_host

# ---- the kernel, versions ----

@test "defaults of overlayfs that engines do not expect" {
    [ -e /sys/module/overlay/parameters/metacopy ] || modprobe overlay
    echo N >"$DIR/off"
    BIND="$DIR/off /sys/module/overlay/parameters/metacopy" doctor --only=overlay-defaults
    exits 0
    has_not metacopy
    echo Y >"$DIR/on"
    BIND="$DIR/on /sys/module/overlay/parameters/metacopy" doctor --only=overlay-defaults
    exits 0
    has "advice   overlayfs: "
    has " metacopy"
    has "options overlay metacopy=off"
}

@test "versions with known holes, unless the distribution has mended them" {
    doctor --only=version
    has "ok       /usr/local/sbin/runc: 1.4.4 has none of the holes known in"
    program runc "runc version 1.1.13"
    doctor --only=version
    exits 10
    has "1.1.13 has CVE-2024-45310, CVE-2025-31133, CVE-2026-119101"
    has "update runc to 1.3.7 or later"
    has_not CVE-2024-21626
    printf 'runc (1.1.13) unstable\n  * CVE-2024-45310 CVE-2025-31133\n' | gzip >"$DIR/doc/runc/changelog.Debian.gz"
    doctor --only=version
    exits 10
    has "1.1.13 has CVE-2026-119101"
    printf 'runc (1.1.13) unstable\n  * CVE-2024-45310 CVE-2025-31133 CVE-2026-119101\n' | gzip >"$DIR/doc/runc/changelog.Debian.gz"
    doctor --only=version
    has "1.1.13 has none of the holes"
    rm "$DIR/doc/runc/changelog.Debian.gz"
    program runc "runc version 1.3.2" # between branches that have a fix
    doctor --only=version
    has "1.3.2 has CVE-2025-31133"
    has_not CVE-2024
    program runc "runc version 1.3.7"
    program crun "crun version 1.29"
    doctor --only=version
    has "runc: 1.3.7 has none"
    has "crun: 1.29.0 has CVE-2026-88264, CVE-2026-88265, CVE-2026-115520"
    has "update crun to 1.31.0 or later"
    program crun "crun version 1.31"
    program nvidia-container-runtime "NVIDIA Container Runtime version 1.17.7"
    doctor --only=version
    has "crun: 1.31.0 has none"
    has "1.17.7 has CVE-2025-23266"
    has_not CVE-2024-0132
    has_not CVE-2025-23359
    program nvidia-container-runtime "NVIDIA Container Runtime version 1.16.1"
    doctor --only=version
    has "1.16.1 has CVE-2024-0132"
    has "update nvidia-container-toolkit to 1.17.8 or later"
    DOC=all
    program dockerd "Docker version 24.0.9, build 0000000"
    doctor --only=version
    has "dockerd: 24.0.9 has CVE-2024-41110"
    has "update docker.io to 29.7.0 or later"
    program dockerd "Docker version 29.9.0, build 0000000"
    doctor --only=version
    has "dockerd: 29.9.0 has none"
    program containerd "containerd github.com/containerd/containerd v2.0.3 0000000"
    doctor --only=version
    has "containerd: 2.0.3 has CVE-2024-40635"
    has "update containerd to 2.0.10 or later"
    program runc "no version; rm -rf"
    doctor --only=version
    has_not "sbin/runc"
}

# ---- the policy, and ways around it ----

# tuning JQ: a policy with this "tuning".
tuning() {
    gojq -n "{version: 1, runtime: {paths: [\"/usr/local/sbin/runc\"]}, tuning: $1}" >"$DIR/etc/flatbed/policy.json"
}

@test "no policy, one in order, one with errors, one that does not load" {
    says policy advice "there is none"
    gojq -n '{version: 1, runtime: {paths: ["/usr/local/sbin/runc"]}, tuning: {shm_size: "50%", memlock: "unlimited"}}' \
        >"$DIR/etc/flatbed/policy.json"
    says policy ok "it has no errors (mode enforce)"
    says tuning-shm ok "sets the size"
    says tuning-memlock ok "sets memlock"
    says tuning-workers advice "a thread for each of this host's $(nproc) processors"
    says policy-unused warning "flatbed install docker --default"
    gojq -n '{version: 1, runtime: {paths: ["/nonexistent/runc"]}}' >"$DIR/etc/flatbed/policy.json"
    says policy error "flatbed check shows them"
    says tuning-shm advice "64 MiB"
    says tuning-memlock advice "memlock"
    tuning '{shm_size: "256m", memlock: "8m", workers: 4096}'
    says tuning-shm advice "it sets /dev/shm to only 256.0 MiB"
    says tuning-memlock advice "it sets memlock to only 8.0 MiB"
    says tuning-workers advice "to start 4096 workers, and this host has $(nproc) processor"
    tuning '{shm_size: "64t", memlock: "1g", workers: 1}'
    says tuning-shm warning "it sets /dev/shm to 64.0 TiB, and this host has "
    says tuning-memlock ok "sets memlock"
    says tuning-workers ok "how many threads and workers"
    echo '{' >"$DIR/etc/flatbed/policy.json"
    says policy error "no container can start"
    doctor --quiet
    exits 11
    [ -z "$output" ]
}

@test "an engine that runs flatbed-runtime only for those who ask, and runc by its name" {
    cp /bin/true "$DIR/bin/flatbed-runtime"
    gojq -n --arg root "$DIR/docker" '{"data-root": $root, runtimes: {flatbed: {path: "/usr/local/sbin/flatbed-runtime"}}}' \
        >"$DIR/etc/docker/daemon.json"
    says runtime-default advice "flatbed install docker --default"
    says runtime-around advice "docker run --runtime=runc"
    gojq -c '."default-runtime" = "flatbed"' "$DIR/etc/docker/daemon.json" >"$DIR/new"
    mv "$DIR/new" "$DIR/etc/docker/daemon.json"
    says runtime-default ok "containers run by flatbed-runtime"
    rm "$DIR/bin/runc"
    ln -s flatbed-runtime "$DIR/bin/runc" # diverted
    doctor --only=runtime-around
    exits 0
    has_not runtime-around
}

@test "the members of group docker" {
    echo "docker:x:999:" >>"$DIR/etc/group"
    doctor --only=group-docker
    has_not "[group-docker]"
    echo "docker-users:x:998:eve" >"$DIR/etc/group"
    echo "docker:x:999:alice,bob" >>"$DIR/etc/group"
    says group-docker advice "members of group docker: alice,bob"
    printf 'carol:x:1002:999::/home/carol:/bin/sh\ndave:x:1003:9990::/home/dave:/bin/sh\n' >>"$DIR/etc/passwd"
    says group-docker advice "members of group docker: alice,bob,carol"
    sed -i 's/^docker:.*/docker:x:999:/' "$DIR/etc/group"
    says group-docker advice "members of group docker: carol"
    ! [[ $output == *dave* ]]
}

@test "a well-kept host has nothing to consider" {
    program runc.real "runc version 1.5.3"
    program crun "crun version 1.31"
    program containerd "containerd github.com/containerd/containerd/v2 v2.3.6 0000000"
    program dockerd "Docker version 29.9.0, build 0000000"
    cp /bin/true "$DIR/bin/flatbed-runtime"
    ln -sf flatbed-runtime "$DIR/bin/runc" # diverted
    mkdir -p "$DIR/docker" "$STORE/data" "$STORE/logs" "$DIR/home/alice/.local/share/containers/storage"
    gojq -n --arg root "$DIR/docker" '{"data-root": $root, "default-runtime": "flatbed",
        runtimes: {flatbed: {path: "/usr/local/sbin/flatbed-runtime"}}}' >"$DIR/etc/docker/daemon.json"
    gojq -n --arg store "$STORE" '{version: 1, runtime: {paths: ["/usr/local/sbin/runc.real"]},
        volumes: {data: {source: "\($store)/data", target: "/data", access: "ro"},
            logs: {source: "\($store)/logs", target: "/logs", access: "rw"}},
        tuning: {shm_size: "50%", memlock: "unlimited", threads: true, workers: "75%"}}' >"$DIR/etc/flatbed/policy.json"
    echo "alice:x:1000:1000::$DIR/home/alice:/bin/sh" >>"$DIR/etc/passwd"
    echo "alice:100000:65536" >"$DIR/etc/subuid"
    echo "docker:x:999:" >>"$DIR/etc/group"
    # The disk of this machine may be full, or busy with other tests.
    doctor --json --ignore=store-room --ignore=store-busy
    gojq -e '.advice + .warnings + .errors == 0 and .ok >= 12' <<<"$output" || {
        gojq '.diagnoses[] | select(.level != "ok")' <<<"$output"
        return 1
    }
}

# ---- what is asked for ----

@test "what is ignored, on the command line and for good; unknown names" {
    echo '{"ignore": ["policy", "version"]}' >"$DIR/etc/flatbed/doctor.json"
    doctor
    has_not "[policy]"
    has_not "[version]"
    has "in order, "
    doctor --only=shm
    exits 2
    has "there is no diagnosis 'shm'; there are gpu-limit, gpu-order, gpu-spec, group-docker, "
    echo '{"ignore": ["none"]}' >"$DIR/etc/flatbed/doctor.json"
    doctor
    exits 2
    has "/etc/flatbed/doctor.json: there is no diagnosis 'none'"
    echo '{"ignored": []}' >"$DIR/etc/flatbed/doctor.json"
    doctor
    exits 5
    has 'must be {"ignore": ["ID"]}'
}

@test "hostile names are escaped" {
    mkdir "$DIR/bad"$'\e[2J'
    doctor --only=store-type --store="$DIR/bad"$'\e[2J'
    has_not $'\e'
    has '\x1b[2J: it is on'
}

@test "a page of HTML, with hostile names as text, whole or not at all" {
    mkdir "$DIR/<script>alert(1)&amp;\"'"$'\xe2\x80\xae\e'
    doctor --only=store-type --only=group-docker --store="$DIR/<script>alert(1)&amp;\"'"$'\xe2\x80\xae\e' --html="$DIR/page.html"
    exits 0
    output=$(<"$DIR/page.html")
    has_not '<script'
    has_not $'\e'
    has_not $'\xe2\x80\xae'
    has_not 'src='
    has_not 'http:'
    python3 -c 'import html.parser, sys
class Page(html.parser.HTMLParser):
    open, texts = [], []
    def handle_starttag(self, tag, attrs):
        assert tag in "html head meta link title style body h1 h2 section p div b span dl dt dd details summary code footer".split(), tag
        if tag not in ("meta", "link"):
            self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
    def handle_data(self, data):
        if self.open[-1:] in (["h2"], ["dd"], ["b"]):
            self.texts.append(data)
page = Page()
page.feed(sys.stdin.read())
assert page.open == [], page.open
name = "<script>alert(1)&amp;\"\x27\\xe2\\x80\\xae\\x1b"
assert any(text.endswith(name) for text in page.texts), page.texts
assert page.texts[:4] == ["0", "0", "0", "1"], page.texts' <<<"$output"
    doctor --only=store-type --html="$DIR/none/page.html"
    exits 3
    cp "$DIR/page.html" "$DIR/before"
    doctor --only=none --html="$DIR/page.html"
    exits 2
    cmp "$DIR/page.html" "$DIR/before"
    echo "docker:x:999:<b>eve</b>" >>"$DIR/etc/group"
    doctor --only=group-docker --html="$DIR/page.html" --json
    gojq -e '.advice == 1' <<<"$output"
    grep -q 'members of group docker: &#60;b&#62;eve&#60;/b&#62;</dd>' "$DIR/page.html"
}

@test "lines are folded to the terminal" {
    command -v script >/dev/null || skip "script is not installed"
    echo "{\"data-root\": \"$DIR/docker\"}" >"$DIR/etc/docker/daemon.json"
    run env TERM=xterm COLUMNS=60 script -qec "'$FLATBED' doctor --only=policy --policy='$DIR/none.json'" /dev/null
    has $'\e['
    while IFS= read -r line; do
        line=$(sed 's/\x1b\[[0-9]*m//g; s/\r//' <<<"$line")
        [ "${#line}" -le 60 ] || { echo "$line"; return 1; }
    done <<<"$output"
}

@test "GPUs of the host are told if the policy does not limit them, or nothing gives them to containers" {
    local at
    for at in 01 02; do
        mkdir -p "$DIR/driver/nvidia/gpus/0000:$at:00.0"
        printf 'Model: \t NVIDIA H200\nGPU UUID: \t GPU-%s\nDevice Minor: \t %d\n' "$at" "$at" >"$DIR/driver/nvidia/gpus/0000:$at:00.0/information"
    done
    BIND="$DIR/driver /proc/driver"
    echo '{ "version": 1, "tuning": { "threads": true } }' >"$DIR/etc/flatbed/policy.json"
    says gpu-limit advice 'it has no "gpus", and this host has 2 GPUs'
    says gpu-spec advice "this host has 2 GPUs, and neither a CDI specification of nvidia.com/gpu nor NVIDIA's container toolkit"
    echo '{ "version": 1, "gpus": { "max": 1 } }' >"$DIR/etc/flatbed/policy.json"
    mkdir -p "$DIR/etc/cdi"
    echo '{"cdiVersion": "0.5.0", "kind": "nvidia.com/gpu"}' >"$DIR/etc/cdi/nvidia.json"
    says gpu-limit ok 'it says which of 2 GPUs a container may have'
    says gpu-spec ok 'there is a CDI specification of nvidia.com/gpu'
    BIND=''
    doctor --only=gpu-limit --only=gpu-spec
    has_not gpu-
}
