# shellcheck shell=bash
# buildah as root with private storage, configured as in podman.bash. There is no daemon.

load lib/podman

buildah_require() { require_tool buildah crun runc gojq; }

buildah_remove_all() { :; }

buildah_cli() {
    within env BUILDAH_ISOLATION=oci CONTAINERS_CONF="$FB_DIR/containers.conf" \
        CONTAINERS_STORAGE_CONF="$FB_DIR/storage.conf" TMPDIR="$FB_DIR/tmp" buildah --log-level error "$@" 3>&-
}

# buildah_run OPTION… -- COMMAND…: runs it in the working container $FB_BOX.
buildah_run() {
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    buildah_cli run --runtime "$FB_DIR/bin/flatbed-runtime" --network=none "${options[@]}" "$FB_BOX" "$@"
}

buildah_start() {
    [ -z "$FB_REFUSED" ] || return 0
    mkdir -p "$FB_DIR/podman"
    podman_containers_conf >"$FB_DIR/containers.conf"
    podman_storage_conf "$(podman_driver)" >"$FB_DIR/storage.conf"
    namespace_start
    export FB_BASE=docker-archive:$FB_DIR/image.tar FB_BOX
    FB_BOX=$(buildah_cli from "$FB_BASE" 2>/dev/null)
}

buildah_stop() {
    [ -z "${FB_BOX-}" ] || buildah_cli rm --all >/dev/null 2>&1 || true
    namespace_stop
}
