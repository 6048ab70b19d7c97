#!/usr/bin/env bats
# flatbed-runtime: profiles, and the flatbed.off annotation of containers.

load lib/shim

# profiled [MEMBERS]: the usual policy with these additional members.
profiled() { sed -i "s|\"version\": 1,|\"version\": 1, ${1//$'\n'/ },|" "$DIR/policy.json"; }

# container UID [ANNOTATIONS]: a container of user UID with these annotations.
container() {
    cat >"$BUNDLE/config.json" <<END
{ "ociVersion": "1.0.2", "process": { "user": { "uid": $1, "gid": 0 }, "env": ["A=1"] },
  "annotations": { ${2-} }, "mounts": [] }
END
}

destinations() { gojq -c '[.mounts[].destination]' "$BUNDLE/config.json"; }

# started JSON: the runtime was called with mounts on these targets.
started() {
    # shellcheck disable=SC2154
    echo "status $status, $output; $(destinations)"
    [ "$status" -eq 7 ]
    [ "$(destinations)" = "$1" ]
    rm -f "$DIR/low.words"
}

@test "the first profile that matches overrides the policy, only for its users" {
    as_root
    profiled '"profiles": [
      { "name": "users", "match": { "uid": ["1000-59999"] }, "volumes": { "logs": { "always": false } } },
      { "name": "late", "match": { "uid": ["1500"] }, "volumes": { "logs": { "target": "/late" } } },
      { "name": "image", "match": { "image": ["*jupyter*"] }, "volumes": { "logs": { "target": "/image" } } } ]'
    container 1500
    run shim create --bundle "$BUNDLE" c1
    started '[]'
    container 60000
    run shim create --bundle "$BUNDLE" c1
    started '["/logs"]'
    container 60000 '"io.kubernetes.cri.image-name": "docker.io/jupyter/base:1"'
    run shim create --bundle "$BUNDLE" c1
    started '["/image"]'
    run shim create --bundle "$BUNDLE" c1 # a second edit changes nothing
    started '["/image"]'
}

@test "a profile may offer its own volumes, and be stricter or laxer than the policy" {
    as_root
    profiled '"profiles": [
      { "name": "a", "match": { "uid": ["1"] }, "volumes": { "extra": { "source": "'"$DIR"'/srv", "target": "/extra" } } },
      { "name": "b", "match": { "uid": ["2"] }, "security": { "user": { "root": "deny" }, "namespaces": { "host": [] } } },
      { "name": "c", "match": { "uid": ["3"] }, "mode": "permissive" },
      { "name": "d", "match": { "uid": ["4"] }, "mode": "off" } ]'
    container 1 '"flatbed.extra": "x"'
    run shim create --bundle "$BUNDLE" c1
    started '["/logs","/extra"]'
    container 5 '"flatbed.extra": "x"'
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "no volumes called 'extra' here; there are: data, logs"
    container 2
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused 'namespace'
    container 3 '"flatbed.extra": "x"'
    run shim create --bundle "$BUNDLE" c1
    started '["/logs"]'
    container 4 '"flatbed.extra": "x"'
    sum=$(sha256sum <"$BUNDLE/config.json")
    run shim create --bundle "$BUNDLE" c1
    started '[]'
    untouched "$sum"
}

@test "a profile is requested by annotation, mount or variable" {
    profiled '"requests": ["annotations", "mounts", "environment"], "profiles": [
      { "name": "i", "match": { "annotation": { "flatbed.profile": "interactive" } }, "volumes": { "logs": { "always": false } } } ]'
    container 0 '"flatbed.profile": "interactive"'
    run shim create --bundle "$BUNDLE" c1
    started '[]'
    container 0
    sed -i 's|"A=1"|"FLATBED_PROFILE=interactive"|' "$BUNDLE/config.json"
    run shim create --bundle "$BUNDLE" c1
    started '[]'
    container 0
    sed -i 's|"mounts": \[\]|"mounts": [ { "destination": "/run/flatbed/request/profile/interactive", "type": "bind", "source": "/dev/null" } ]|' "$BUNDLE/config.json"
    run shim create --bundle "$BUNDLE" c1
    started '[]'
    run shim create --bundle "$BUNDLE" c1 # the profile is kept for the container
    started '[]'
}

@test "a profile that is not offered is refused with a list of those offered; in permissive mode the policy applies" {
    profiled '"profiles": [
      { "name": "i", "match": { "uid": ["1-5"], "annotation": { "flatbed.profile": ["interactive", "big-*"] } }, "volumes": { "logs": { "always": false } } } ]'
    container 0 '"flatbed.profile": "root"'
    sum=$(sha256sum <"$BUNDLE/config.json")
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "flatbed.profile: the profile 'root' cannot be requested here; those that can: interactive, big-\*"
    untouched "$sum"
    container 0 '"flatbed.profile": "big-1"'
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "the profile 'big-1' is not for this container"
    profiled '"mode": "permissive"'
    run shim create --bundle "$BUNDLE" c1
    started '["/logs"]'
}

@test "an invalid profile lets no container start, whether it matches or not" {
    profiled '"profiles": [ { "name": "i", "match": { "uid": ["99"] }, "binds": { "defualt": "deny" } } ]'
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "policy.json:2:[0-9]+: unknown key \"defualt\"; did you mean \"default\"?"
}

@test "items that the policy offers can be switched off, and no others" {
    profiled '"opt_out": ["mounts"], "binds": { "default": "deny" }'
    container 0 '"flatbed.off": "mounts"'
    run shim create --bundle "$BUNDLE" c1
    started '[]'
    container 0 '"flatbed.off": "mounts", "flatbed.data": "imagenet"' # a requested volume is mounted anyway
    run shim create --bundle "$BUNDLE" c1
    started '["/work/imagenet"]'
    for what in binds security tuning mounts,security '' 'mounts,'; do
        container 0 "\"flatbed.off\": \"$what\""
        run --separate-stderr shim create --bundle "$BUNDLE" c1
        refused "flatbed.off: '[a-z]*' cannot be switched off here; what can be: mounts"
    done
    container 0 '"flatbed.off": "mounts"'
    sed -i 's|"mounts": \[\]|"mounts": [ { "destination": "/h", "type": "bind", "source": "/etc" } ]|' "$BUNDLE/config.json"
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused '/etc'
}

@test "without a rule in the policy nothing can be switched off" {
    container 0 '"flatbed.off": "mounts"'
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "flatbed.off: 'mounts' cannot be switched off here; what can be: nothing"
}

@test "an owner that cannot be looked up selects no profile" {
    as_root
    profiled '"identity": ["annotation:who"], "profiles": [ { "name": "p", "match": { "uid": ["0-99"] }, "mode": "off" } ]'
    container 0 '"who": "nobody-is-called-so"'
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "profiles: the profile depends on whose container it is: who: there is no user"
    # An annotation of a pause container does not avoid this.
    container 0 '"who": "nobody-is-called-so", "io.kubernetes.cri.container-type": "sandbox"'
    run --separate-stderr shim create --bundle "$BUNDLE" c1
    refused "profiles: the profile depends on whose container it is: who: there is no user"
}
