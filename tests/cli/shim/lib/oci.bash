# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # DIGEST is for tests; status and stderr are set by bats' run
# The frame of stage_oci.bats: registries on loopback, models in them, and a policy with classes from a registry.

load ../lib/stage
# shellcheck source=tests/cli/flatten/lib/registry.bash
source "${BASH_SOURCE[0]%/*}/../../flatten/lib/registry.bash"

SHIM_LIB=$(cd "${BASH_SOURCE[0]%/*}" && pwd)

# push REPOSITORY:TAG KIND NAME=TEXT...: sets DIGEST.
push() { DIGEST=$(python3 -B "$SHIM_LIB/push_artifact.py" "${HOST-$REGISTRY}/$1" "${@:2}"); }

# models [STAGE-MEMBERS [CLASS-MEMBERS]]: a policy with the class "models".
models() {
    low low
    cat >"$DIR/policy.json" <<JSON
{ "version": 1, "runtime": { "paths": ["$DIR/low"] }, "audit": { "file": "$DIR/audit.jsonl", "metrics": "$DIR/flatbed.prom" },
  "volumes": { "models": { "source": "${FROM-oci://$REGISTRY/models/{name\}:stable}", "target": "/data/imagenet"${2+, $2},
    "stage": { "cache": "$CACHE"${1:+, $1} } } } }
JSON
    chmod 0644 "$DIR/policy.json"
}

# asking [NAME [MORE-ANNOTATIONS]]: the container asks for a model.
asking() { config "" && sed -i "s|\"flatbed.data\": \"imagenet\"|\"flatbed.models\": \"${1-llama-7b}\"${2:+, $2}|" "$BUNDLE/config.json"; }

# content FILE: prints a file of the only entry.
content() { cat "$(tree)/$1"; }
settled() { wait_until no_copiers; }
# refused TEXT: the last launch was refused with this text.
refused() { [[ $stderr == *"$1"* ]] && [ ! -e "$DIR/low.mount.c1" ]; }
# fetches REPOSITORY: prints how often the registry sent a layer or config.
fetches() { grep -c "GET /v2/$1/blobs/" "$BATS_FILE_TMPDIR/registry/log" || true; }
