#!/usr/bin/env bats
# The command line of flatten: options, exit status, messages, and files left behind.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/flatten

# ---- help ----

@test "--help, --version and --completion print to standard output" {
    ok --help
    [[ $output == *"flatten verify"* && $output == *"Exit status:"* ]]
    ok squash --help
    [[ $output == *"--compression"* ]]
    ok verify -h
    [[ $output == *"--most"* ]]
    ok --version
    [[ $output =~ ^flatten\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
    "$FLATTEN" --completion=bash | bash -n
    fails 2 "" --completion=tcsh
}

# ---- usage ----

@test "missing and extra operands are refused" {
    fails 2 "no image is given"
    fails 2 "" squash
    fails 2 "" squash a b c
    fails 2 "" verify "$IMAGES/layout"
    fails 2 "a destination is missing" "$IMAGES/old.tar"
    fails 2 "a destination is missing" squash "oci:$IMAGES/layout:v1"
}

@test "invalid options are refused" {
    fails 2 "did you mean '--compression'?" --compresion=zstd "$IMAGES/old.tar" oci:x
    fails 2 "--compression=xz" --compression=xz "$IMAGES/old.tar" oci:x
    fails 2 "level '20'" -c zstd:20 "$IMAGES/old.tar" oci:x
    fails 2 "--threads" --threads=many "$IMAGES/old.tar" oci:x
    fails 2 "overlay, spec" --semantics=moby "$IMAGES/old.tar" oci:x
    fails 2 "not a time" --created=yesterday "$IMAGES/old.tar" oci:x
    fails 2 "--into=0" --into=0 "$IMAGES/old.tar" oci:x
    fails 2 "" --quiet=yes "$IMAGES/old.tar" oci:x
    fails 2 "" verify --most=-1 "$IMAGES/old.tar" "$IMAGES/new.tar"
    [ -z "$(ls -A)" ]
}

@test "invalid references are refused" {
    fails 2 "no such file" ./nope oci:x
    fails 2 "oci:DIR" "$IMAGES/old.tar" ./new-directory
    fails 2 "" oci: oci:x
    fails 2 "standard output" "$IMAGES/old.tar" -
    fails 2 "no image named v9" "oci:$IMAGES/layout:v9" oci:x
    fails 2 "no image named image:v9" "docker-archive:$IMAGES/old.tar:image:v9" oci:x
    fails 2 "not for linux/s390x" --platform=linux/s390x "oci:$IMAGES/layout" oci:x
    [ -z "$(ls -A)" ]
}

# ---- results ----

@test "the printed image ID and digest are those of the new image" {
    ok -q "oci:$IMAGES/layout" oci:out:flat
    [ -z "$stderr" ]
    [ "${lines[0]}" = "sha256:$(sha256sum <"$(config_of out)" | cut -d' ' -f1)" ]
    [ "${lines[1]}" = "sha256:$(sha256sum <"$(manifest_of out)" | cut -d' ' -f1)" ]
    [ "${#lines[@]}" -eq 2 ]
    [ "${lines[1]}" = "$(gojq -r '.manifests[0].digest' out/index.json)" ]
}

@test "the summary goes to stderr, and is not printed with --quiet" {
    ok "oci:$IMAGES/layout" oci:out
    [[ $stderr == *"3 layers became 1"* ]]
    ok --quiet "oci:$IMAGES/layout" oci:out
    [ -z "$stderr" ]
}

@test "--json prints one document" {
    ok --json -q "oci:$IMAGES/layout" oci:out:flat
    [ "$(gojq -r .id <<<"$output")" = "$(gojq -r .config.digest "$(manifest_of out)")" ]
    [ "$(gojq -r .digest <<<"$output")" = "$(gojq -r '.manifests[0].digest' out/index.json)" ]
    [ "$(gojq -c .layers <<<"$output")" = '{"in":3,"kept":0,"out":1}' ]
    [ "$(gojq -r .layer.digest <<<"$output")" = "$(gojq -r '.layers[0].digest' "$(manifest_of out)")" ]
    [ "$(gojq -c .made <<<"$output")" = "[$(gojq -c .layer <<<"$output")]" ]
    [ "$(gojq -r .layer.diff_id <<<"$output")" = "$(gojq -r '.rootfs.diff_ids[0]' "$(config_of out)")" ]
    gojq -e '.entries.in > .entries.out and .payload.in > .payload.out' <<<"$output"
}

@test "every source gives the same tree" {
    for source in "$IMAGES/old.tar" "$IMAGES/new.tar" "docker-archive:$IMAGES/new.tar:image:v1" \
        "$IMAGES/layout" "oci:$IMAGES/layout:v1" "oci:$IMAGES/zstd"; do
        ok -q "$source" oci:"out:flat"
        same oci:out "$IMAGES/old.tar"
    done
}

@test "standard input is read, compressed or not" {
    for how in cat "gzip -1" "zstd -q"; do
        $how <"$IMAGES/old.tar" >in
        run --separate-stderr "$FLATTEN" -q - docker-archive:out.tar <in
        [ "$status" -eq 0 ]
        run --separate-stderr bash -c 'cat in | "$FLATTEN" -q docker-archive:- docker-archive:piped.tar'
        [ "$status" -eq 0 ]
        cmp out.tar piped.tar
        same out.tar "$IMAGES/old.tar"
    done
    run --separate-stderr "$FLATTEN" - oci:x </dev/null
    [ "$status" -eq 5 ]
}

@test "every compression works" {
    for kind in none gzip gzip:0 gzip:3 zstd zstd:1 zstd:19; do
        ok -q -c "$kind" "oci:$IMAGES/layout" "oci:out-${kind/:/-}"
        same "oci:out-${kind/:/-}" "oci:$IMAGES/layout"
    done
    [[ $(gojq -r '.layers[0].mediaType' "$(manifest_of out-none)") == *.tar ]]
    [[ $(gojq -r '.layers[0].mediaType' "$(manifest_of out-gzip)") == *.tar+gzip ]]
    [[ $(gojq -r '.layers[0].mediaType' "$(manifest_of out-zstd)") == *.tar+zstd ]]
}

@test "an archive can be read as a docker-archive and as a layout" {
    ok -q "oci:$IMAGES/layout" flat.tar
    [[ $(tar -xOf flat.tar manifest.json | gojq -r '.[0].Layers[0]') == blobs/sha256/* ]]
    mkdir out && tar -xf flat.tar -C out
    same oci:out flat.tar
    same flat.tar "$IMAGES/old.tar"
}

@test "the result does not depend on the number of threads" {
    for n in 1 2 3 4; do
        ok -q --threads=$n "$IMAGES/big.tar" "oci:out$n"
        diff -r out1 "out$n"
    done
    ok -q "$IMAGES/big.tar" oci:out
    diff -r out1 out
}

# From 6 processors on, compressed layers are unpacked into temporary files, several at once.
@test "layers that are unpacked ahead give the same result and the same errors" {
    ok -q --into=4 --compression=gzip "$IMAGES/old.tar" oci:packed
    for way in --semantics=overlay --semantics=spec --into=2 --keep-base=1; do
        ok -q --threads=1 "$way" oci:packed oci:one
        ok -q --threads=20 "$way" oci:packed oci:many
        TMPDIR=/nonexistent ok -q --threads=20 "$way" oci:packed oci:without
        diff -r one many
        diff -r one without
        rm -r one many without
    done
    fails 5 "layer 2: dir/.wh.: a whiteout that names nothing" --threads=20 "oci:$IMAGES/bad-whiteout" oci:x
    fails 6 "layer 2" --threads=20 "oci:$IMAGES/bad-digest" oci:x
    [ ! -e x ]
}

later_than() { [ "$SECONDS" -gt "$1" ]; }

@test "the same input gives the same bytes, at any time" {
    local second=$SECONDS
    ok -q "$IMAGES/old.tar" one.tar
    wait_until later_than "$second"
    ok -q "$IMAGES/old.tar" two.tar
    cmp one.tar two.tar
}

@test "--created and SOURCE_DATE_EPOCH set the time of creation" {
    ok -q "$IMAGES/old.tar" oci:kept
    [ "$(gojq -r .created "$(config_of kept)")" = 2020-02-02T02:02:02Z ]
    ok -q --created=2021-03-04T05:06:07Z "$IMAGES/old.tar" oci:said
    [ "$(gojq -r .created "$(config_of said)")" = 2021-03-04T05:06:07Z ]
    [ "$(gojq -r '.history[-1].created' "$(config_of said)")" = 2021-03-04T05:06:07Z ]
    export SOURCE_DATE_EPOCH=1
    ok -q "$IMAGES/old.tar" oci:epoch
    [ "$(gojq -r .created "$(config_of epoch)")" = 1970-01-01T00:00:01Z ]
    ok -q --created=2 "$IMAGES/old.tar" oci:both
    [ "$(gojq -r .created "$(config_of both)")" = 1970-01-01T00:00:02Z ]
    export SOURCE_DATE_EPOCH=tomorrow
    fails 2 "not a time" "$IMAGES/old.tar" oci:bad
    [ ! -e bad ]
}

@test "other members of the config and annotations are kept" {
    ok -q "oci:$IMAGES/layout" oci:out
    keep='del(.rootfs, .history, .created)'
    diff <(gojq "$keep" "$(config_of "$IMAGES/layout")") <(gojq "$keep" "$(config_of out)")
    grep -q 18446744073709551615 "$(config_of out)"
    [ "$(gojq '[.history[] | select(.empty_layer | not)] | length' "$(config_of out)")" -eq 1 ]
    [ "$(gojq -r '.annotations["org.example.note"]' "$(manifest_of out)")" = kept ]
    [ "$(gojq -r '.annotations["dev.flatbed.source.digest"]' "$(manifest_of out)")" = \
        "$(gojq -r '.manifests[0].digest' "$IMAGES/layout/index.json")" ]
}

# ---- divergences ----

@test "differences between engines and the specification are reported, by layer and path" {
    ok "oci:$IMAGES/divergent" oci:overlay
    [[ $stderr == *"flatten: warning: layer 2: "*"opaque marker in the root"* ]]
    ok "oci:$IMAGES/divergent" oci:overlay -q
    [ -z "$stderr" ]
    ok --json "oci:$IMAGES/divergent" oci:overlay
    [ "$(gojq .divergences <<<"$output")" -eq 1 ]
    ok -q --semantics=spec "oci:$IMAGES/divergent" oci:spec
    same --semantics=spec oci:spec "oci:$IMAGES/divergent"
    run ! same oci:spec oci:overlay
}

@test "twenty divergences are listed, and the rest is counted" {
    ok "oci:$IMAGES/many" oci:out
    [ "$(grep -c "warning: layer 2" <<<"$stderr")" -eq 20 ]
    [[ $stderr == *"10 more such warnings"* ]]
}

@test "ACLs that engines do not read are left out with a warning, readable or not" {
    local command
    for command in squash carve; do
        rm -rf out
        ok $command --verify "oci:$IMAGES/acl-record" oci:out
        [[ $stderr == *"warning: layer 1: a: an ACL in a record of tar, which engines do not read, is left out"* ]]
        [[ $stderr == *"warning: layer 1: d: an ACL in a record of tar, which engines do not read, is left out"* ]]
        [ "$(grep -c "warning" <<<"$stderr")" -eq 2 ]
    done
    ok unpack --verify "oci:$IMAGES/acl-record" tree
    [ "$(grep -c "warning: layer 1: .*: an ACL" <<<"$stderr")" -eq 2 ]
    [ "$(stat -c %a tree/a)" = 664 ]
    ok verify "oci:$IMAGES/acl-record" oci:out
}

@test "layers with hard links into older layers are squashed" {
    ok "oci:$IMAGES/indexed" oci:out
    [[ $stderr == *"layer 2: l: a hard link into an older layer"* ]]
    ok "oci:$IMAGES/indexed" out.tar
    same oci:out "oci:$IMAGES/indexed"
    same out.tar oci:out
    [ "$(ls -A)" = "out
out.tar" ]
    [ "$(find out/blobs -type f | wc -l)" -eq 3 ]
}

# ---- destinations ----

@test "an archive is replaced, and keeps its mode" {
    cp "$IMAGES/new.tar" out.tar
    chmod 0604 out.tar
    ok -q "$IMAGES/old.tar" out.tar
    [ "$(stat -c %a out.tar)" = 604 ]
    same out.tar "$IMAGES/old.tar"
    (umask 027 && "$FLATTEN" -q "$IMAGES/old.tar" new.tar >/dev/null)
    [ "$(stat -c %a new.tar)" = 640 ]
    [ "$(ls -A)" = "new.tar
out.tar" ]
}

@test "a layout gets a second image, and a tag is replaced" {
    ok -q "oci:$IMAGES/layout" oci:out:a
    ok -q "oci:$IMAGES/divergent" oci:out:b
    ok -q "oci:$IMAGES/divergent" oci:out:a
    [ "$(gojq -c '[.manifests[].annotations["org.opencontainers.image.ref.name"]]' out/index.json)" = '["b","a"]' ]
    same oci:out:a "oci:$IMAGES/divergent"
    same oci:out:b "oci:$IMAGES/divergent"
}

@test "an image is squashed into its own layout, under its own tag" {
    cp -r "$IMAGES/layout" l
    ok -q oci:l:v1 oci:l:v1
    same oci:l:v1 "oci:$IMAGES/layout"
    [ "$(gojq '.manifests | length' l/index.json)" -eq 1 ]
}

@test "concurrent runs into one layout lose no image" {
    local i
    cp -r "$IMAGES/layout" l
    for i in 1 2 3 4 5 6 7 8; do
        "$FLATTEN" -q oci:l:v1 "oci:l:flat$i" >/dev/null 2>"log$i" 3>&- &
    done
    wait
    [ "$(gojq -r '.manifests[].annotations["org.opencontainers.image.ref.name"]' l/index.json |
        grep -c flat)" -eq 8 ]
}

@test "a layer that unpacks to more than --max-size is refused" {
    python3 "$FLATTEN_LIB/bomb.py" bomb.tar
    [ "$(stat -c %s bomb.tar)" -lt 1000000 ]
    fails 7 "more than 1073741824 bytes" --max-ratio=1000000 --max-size=1 bomb.tar docker-archive:out.tar
    [ "$(ls -A)" = bomb.tar ]
    fails 2 "--max-size" --max-size=0 bomb.tar docker-archive:out.tar
}

# on_terminal COLUMNS WORD...: runs flatten on a terminal of this width.
on_terminal() {
    python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' \
        sh -c 'stty cols "$1" && shift && exec "$@"' sh "$1" "$FLATTEN" "${@:2}"
}

@test "the progress line is printed only on a terminal" {
    run on_terminal 80 -c zstd:19 "$IMAGES/slow.tar" docker-archive:out.tar
    [ "$status" -eq 0 ]
    [[ $output == *"% "*" GB"* && $output == *$'\r\e[K'* ]]
    run on_terminal 80 -q "$IMAGES/big.tar" docker-archive:out.tar
    [[ $output != *" GB"* ]]
    run on_terminal 20 -c zstd:19 "$IMAGES/slow.tar" docker-archive:out.tar
    [[ $output == *"% "* && $output != *" MB/s"* ]]
    flatten -c zstd:19 "$IMAGES/slow.tar" docker-archive:out.tar
    [[ $stderr != *"% "* ]]
}

@test "a terminal or an empty file is not an archive" {
    run on_terminal 80 - oci:x
    [ "$status" -eq 2 ]
    [[ $output == *"standard input is a terminal"* ]]
    : >empty.tar
    fails 5 "empty.tar: is empty" empty.tar oci:x
    [ ! -e x ]
}

@test "an interrupted run leaves no files and dies of the signal" {
    local pid status=0
    mkfifo pipe
    "$FLATTEN" docker-archive:- oci:out:x <pipe >/dev/null 2>log 3>&- &
    pid=$!
    exec 7>pipe
    head -c 1000000 /dev/zero >&7 # more than fits into the pipe, so flatten is reading
    kill -TERM "$pid"
    wait "$pid" || status=$?
    exec 7>&-
    [ "$status" -eq $((128 + 15)) ]
    [ "$(ls -A)" = "log
pipe" ]
}

@test "closed standard descriptors are not used for files of the image" {
    ok -q "$IMAGES/old.tar" docker-archive:open.tar
    "$FLATTEN" "$IMAGES/old.tar" docker-archive:closed.tar >&- 2>&- <&- || true
    cmp open.tar closed.tar
}

@test "a layout with a tag and without oci: is an error that shows the correct form" {
    cp -r "$IMAGES/layout" l
    fails 2 "written oci:l:v1" l:v1 docker-archive:out.tar
}

@test "an archive with a name and without docker-archive: is an error that shows the correct form" {
    fails 2 "written docker-archive:out.tar:app:x" "$IMAGES/old.tar" out.tar:app:x
    cp "$IMAGES/old.tar" image
    fails 2 "written docker-archive:image:Lab:x" image:Lab:x oci:out
    [ "$(ls -A)" = image ]
}

@test "paths and names that are too long for every file system are refused" {
    python3 "$FLATTEN_LIB/long_paths.py" deep.tar long.tar
    fails 7 "a path of" deep.tar docker-archive:out.tar
    fails 7 "a name of" long.tar docker-archive:out.tar
    [ ! -e out.tar ]
}

@test "a file that is not an archive is not replaced" {
    echo "my notes" >notes.txt
    for to in notes.txt docker-archive:notes.txt oci-archive:notes.txt; do
        fails 2 "notes.txt: exists and is not an archive: remove it first, or name another file" "$IMAGES/old.tar" "$to"
    done
    [ "$(cat notes.txt)" = "my notes" ]
    for pack in cat gzip zstd xz; do
        "$pack" <"$IMAGES/old.tar" >packed
        ok -q "$IMAGES/old.tar" docker-archive:packed
    done
    tar --format=v7 -cf v7.tar notes.txt
    ok -q "$IMAGES/old.tar" docker-archive:v7.tar
    : >empty
    ok -q "$IMAGES/old.tar" docker-archive:empty
}

@test "invalid destinations are refused before the work" {
    mkdir -p dir/theirs
    mkfifo fifo
    fails 2 "not an OCI layout" "$IMAGES/old.tar" oci:dir
    fails 2 "not a regular file" "$IMAGES/old.tar" docker-archive:dir
    fails 2 "not a regular file" "$IMAGES/old.tar" docker-archive:fifo
    fails 3 "no/such" "$IMAGES/old.tar" docker-archive:no/such/out.tar
    fails 3 "no/such" "$IMAGES/old.tar" oci:no/such/layout
    [ "$(ls -A)" = "dir
fifo" ]
}

# ---- limits ----

@test "archive members: a name too long or with .. is refused" {
    python3 -c '
import tarfile
for file, name in (("long.tar", "n" * 4096), ("out.tar", "../manifest.json")):
    with tarfile.open(file, "w", format=tarfile.PAX_FORMAT) as t:
        t.addfile(tarfile.TarInfo(name))'
    fails 7 "long.tar: a member's name of 4096 bytes" long.tar oci:x
    fails 5 "out.tar: ../manifest.json: " out.tar oci:x
    [ ! -e x ]
}

@test "verify: long extended attributes are compared, and not printed" {
    same "oci:$IMAGES/xattr-v" "oci:$IMAGES/xattr-v"
    flatten verify "oci:$IMAGES/xattr-v" "oci:$IMAGES/xattr-w"
    [ "$status" -eq 1 ] && [[ $output == *"2 of sha256:"* ]] && [ "${#output}" -lt 1000 ]
}

@test "many layers work with a low limit of open files" {
    (
        ulimit -Sn 64
        ok -q "oci:$IMAGES/126" oci:out
    )
    same "oci:$IMAGES/126" oci:out
}

# ---- verify ----

@test "verify: equal trees" {
    ok verify "$IMAGES/old.tar" "oci:$IMAGES/layout"
    [ -z "$output" ]
    [[ $stderr == *"the same tree: "*" paths"* ]]
    ok verify -q "$IMAGES/old.tar" "oci:$IMAGES/layout"
    [ -z "$output$stderr" ]
    ok verify --json "$IMAGES/old.tar" "oci:$IMAGES/layout"
    gojq -e '.same and .count == 0 and .differences == [] and .paths > 5' <<<"$output"
}

@test "verify: differences are listed" {
    flatten verify "oci:$IMAGES/divergent" "oci:$IMAGES/layout"
    [ "$status" -eq 1 ]
    [[ $output == *"/a/old
  A: file 1 byte sha256:"*"
  B: (nothing)"* ]]
    [[ $stderr == *"paths differ"* ]]
    flatten verify --most=2 "oci:$IMAGES/divergent" "oci:$IMAGES/layout"
    [ "$status" -eq 1 ]
    [ "$(grep -c '^/' <<<"$output")" -eq 2 ]
    [[ $stderr == *"and "*" more"* ]]
    flatten verify --json "oci:$IMAGES/divergent" "oci:$IMAGES/layout"
    [ "$status" -eq 1 ]
    gojq -e '(.same | not) and .count == (.differences | length)' <<<"$output"
    flatten verify -q "oci:$IMAGES/divergent" "oci:$IMAGES/layout"
    [ "$status" -eq 1 ]
    [ -z "$output$stderr" ]
    flatten verify --json --most=1 "oci:$IMAGES/divergent" "oci:$IMAGES/layout"
    gojq -e '.count > 1 and (.differences | length) == 1' <<<"$output"
}

@test "verify: an unreadable image is an error, not a difference" {
    fails 3 "verify: B: nope: " verify "$IMAGES/old.tar" docker-archive:nope
    fails 6 "verify: B: layer 2: content is" verify "$IMAGES/old.tar" "oci:$IMAGES/bad-digest"
    fails 5 "verify: A: layer 2: dir/" verify "oci:$IMAGES/bad-whiteout" "$IMAGES/old.tar"
    fails 2 "verify: A: ./gone: no such file" verify ./gone "$IMAGES/old.tar"
    fails 2 "verify takes A B and no more" verify a b c
}
