# shellcheck shell=bash
# A busybox root file system, and the same as an image archive: no registry is needed.

FB_APPLETS="sh cat chmod echo env false grep head id kill ls mkdir mount ps pwd rm sleep stat test touch true wc"

# image_rootfs: makes the tree $FB_DIR/rootfs, without /workspace and other mount points of the policies.
image_rootfs() {
    local root=$FB_DIR/rootfs applet
    [ -z "$FB_REFUSED" ] || return 0
    [ ! -d "$root" ] || return 0
    mkdir -p "$root"/{bin,dev,etc,proc,sys,tmp}
    chmod 1777 "$root/tmp"
    cp "$(command -v busybox)" "$root/bin/busybox"
    for applet in $FB_APPLETS; do
        ln -s busybox "$root/bin/$applet"
    done
    printf 'root:x:0:0::/:/bin/sh\nworker:x:1234:1234::/:/bin/sh\n' >"$root/etc/passwd"
    printf 'root:x:0:\nworker:x:1234:\n' >"$root/etc/group"
}

image_arch() {
    case $(uname -m) in
        x86_64) echo amd64 ;;
        aarch64) echo arm64 ;;
        *) uname -m ;;
    esac
}

image_config() {
    cat <<EOF
{"architecture":"$(image_arch)","os":"linux","created":"1970-01-01T00:00:00Z",
 "config":{"Cmd":["/bin/sh"],"Env":["PATH=/bin"]},
 "rootfs":{"type":"layers","diff_ids":["sha256:$1"]},
 "history":[{"created":"1970-01-01T00:00:00Z","created_by":"flatbed tests"}]}
EOF
}

# image_archive: makes $FB_DIR/image.tar, a docker-archive, which docker, ctr and podman load. Its name is $FB_IMAGE.
image_archive() {
    local dir=$FB_DIR/image digest
    [ -z "$FB_REFUSED" ] || return 0
    image_rootfs
    mkdir -p "$dir"
    tar -C "$FB_DIR/rootfs" --sort=name --owner=0 --group=0 --numeric-owner -cf "$dir/layer.tar" .
    digest=$(sha256sum <"$dir/layer.tar")
    image_config "${digest%% *}" >"$dir/config.json"
    printf '[{"Config":"config.json","RepoTags":["%s"],"Layers":["layer.tar"]}]\n' "$FB_IMAGE" >"$dir/manifest.json"
    tar -C "$dir" -cf "$FB_DIR/image.tar" manifest.json config.json layer.tar
    rm -r "$dir"
}
