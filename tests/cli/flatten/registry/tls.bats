#!/usr/bin/env bats
# flatten with registries that require certificates, in the directories of users; and behind a proxy. The
# registry is real, and skopeo shows which of several directories is used.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load ../lib/flatten
load ../lib/registry

setup_file() {
    export HOME=$BATS_FILE_TMPDIR/home
    export XDG_RUNTIME_DIR=$HOME/run
    unset REGISTRY_AUTH_FILE DOCKER_CONFIG XDG_CONFIG_HOME SSL_CERT_FILE SSL_CERT_DIR
    unset HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy all_proxy ALL_PROXY
    mkdir -p "$XDG_RUNTIME_DIR"
    make_images docker-registry htpasswd openssl skopeo gojq || return
    registry_start_tls "$BATS_FILE_TMPDIR/tls" lab secret
    export PASSWORD=$REGISTRY TLS=$BATS_FILE_TMPDIR/tls
    registry_start_mutual "$BATS_FILE_TMPDIR/mutual"
    export MUTUAL=$REGISTRY CERTS=$BATS_FILE_TMPDIR/mutual
    mkdir "$BATS_FILE_TMPDIR/certs"
    export GOOD=$BATS_FILE_TMPDIR/certs
    cp "$CERTS/ca.pem" "$GOOD/ca.crt"
    cp "$CERTS/client.cert" "$CERTS/client.key" "$GOOD"
    skopeo copy -q --dest-cert-dir="$GOOD" "oci:$IMAGES/layout" "docker://$MUTUAL/lab/image:v1"
    skopeo copy -q --dest-tls-verify=false --dest-creds lab:secret \
        "oci:$IMAGES/layout" "docker://$PASSWORD/lab/image:v1"
}

teardown_file() { registry_stop_all "$BATS_FILE_TMPDIR"; }

teardown() {
    [ -z "${PROXY_PID-}" ] || kill "$PROXY_PID" 2>/dev/null || true
    rm -rf "$HOME/.config"
}

SOURCE_PATH=lab/image:v1

# ---- a client certificate ----

@test "--cert-dir: the CA and a client certificate work for pull, push, verify and analyze" {
    ok -q --cert-dir="$GOOD" "docker://$MUTUAL/$SOURCE_PATH" oci:out:flat
    same oci:out:flat "$IMAGES/layout"
    ok -q --cert-dir="$GOOD" "$IMAGES/old.tar" "docker://$MUTUAL/lab/pushed:v1"
    skopeo inspect --cert-dir="$GOOD" "docker://$MUTUAL/lab/pushed:v1" | gojq -e '.Layers | length == 1'
    ok verify -q --cert-dir="$GOOD" "docker://$MUTUAL/lab/pushed:v1" "$IMAGES/old.tar"
    ok analyze -q --cert-dir="$GOOD" "docker://$MUTUAL/$SOURCE_PATH"
}

@test "a missing client certificate is an error at once, and plain HTTP is not tried" {
    mkdir certs
    cp "$GOOD/ca.crt" certs
    SECONDS=0
    fails 3 "client certificate" --cert-dir=certs "docker://$MUTUAL/$SOURCE_PATH" oci:out
    [ "$SECONDS" -lt 60 ]
    fails 3 "client certificate" --insecure "docker://$MUTUAL/$SOURCE_PATH" oci:out
    [ ! -e out ]
}

@test "a client certificate of another CA is refused by the registry, and the error says so" {
    mkdir certs
    cp "$GOOD/ca.crt" certs
    tls_client "$TLS" "$PWD/certs/client"
    fails 3 "registry" --cert-dir=certs "docker://$MUTUAL/$SOURCE_PATH" oci:out
}

@test "a client certificate is also used with --insecure" {
    mkdir certs
    cp "$GOOD"/client.* certs
    ok -q --insecure --cert-dir=certs "docker://$MUTUAL/$SOURCE_PATH" oci:out:flat
}

# ---- certificate directories ----

@test "the directory of the user: XDG_CONFIG_HOME first, then ~/.config" {
    mkdir -p "$HOME/.config/containers/certs.d" xdg/containers/certs.d
    cp -r "$GOOD" "$HOME/.config/containers/certs.d/$MUTUAL"
    ok -q "docker://$MUTUAL/$SOURCE_PATH" oci:out:a
    XDG_CONFIG_HOME=$PWD/xdg ok -q "docker://$MUTUAL/$SOURCE_PATH" oci:out:b
    mkdir "xdg/containers/certs.d/$MUTUAL"
    XDG_CONFIG_HOME=$PWD/xdg fails 3 "certificate" "docker://$MUTUAL/$SOURCE_PATH" oci:out:c
    cp "$GOOD"/* "xdg/containers/certs.d/$MUTUAL"
    rm -r "$HOME/.config"
    XDG_CONFIG_HOME=$PWD/xdg ok -q "docker://$MUTUAL/$SOURCE_PATH" oci:out:c
    # Another port is another registry.
    fails 3 "certificate" "docker://$PASSWORD/$SOURCE_PATH" oci:out:d
}

@test "the directories of a rootless Docker: in XDG_CONFIG_HOME, or ~/.config without it" {
    mkdir -p "$HOME/.config/docker/certs.d" xdg/docker/certs.d
    cp -r "$GOOD" "$HOME/.config/docker/certs.d/$MUTUAL"
    ok -q "docker://$MUTUAL/$SOURCE_PATH" oci:out:a
    XDG_CONFIG_HOME=$PWD/xdg fails 3 "certificate" "docker://$MUTUAL/$SOURCE_PATH" oci:out:b
    cp -r "$GOOD" "xdg/docker/certs.d/$MUTUAL"
    XDG_CONFIG_HOME=$PWD/xdg ok -q "docker://$MUTUAL/$SOURCE_PATH" oci:out:b
    # The directories of containers come first.
    mkdir -p "xdg/containers/certs.d/$MUTUAL"
    XDG_CONFIG_HOME=$PWD/xdg fails 3 "certificate" "docker://$MUTUAL/$SOURCE_PATH" oci:out:c
    rm -r "$HOME/.config"
}

@test "of several directories, flatten uses the same as skopeo" {
    [ "$(id -u)" -eq 0 ] || skip "needs root, for an /etc of its own"
    few_cas
    mkdir -p etc/docker/certs.d etc/containers/certs.d docker containers home
    cat >try <<'END'
set -e
mount -t overlay none -o "lowerdir=$PWD/etc:/etc" /etc
mount --bind docker /etc/docker/certs.d
mount --bind containers /etc/containers/certs.d
mkdir -p "$HOME/.config/containers/certs.d"
mount --bind home "$HOME/.config/containers/certs.d"
for states in {absent,empty,good}-{absent,empty,good}-{absent,empty,good}; do
    rm -rf docker/* containers/* home/*
    IFS=- read -r user containers docker <<<"$states"
    for folder in home=$user containers=$containers docker=$docker; do
        case ${folder#*=} in
            empty) mkdir "${folder%=*}/$MUTUAL" ;;
            good) cp -r "$GOOD" "${folder%=*}/$MUTUAL" ;;
        esac
    done
    ours=0 theirs=0
    "$FLATTEN" -q --retries=0 "docker://$MUTUAL/lab/image:v1" oci:out:flat >/dev/null 2>&1 || ours=1
    skopeo inspect --raw "docker://$MUTUAL/lab/image:v1" >/dev/null 2>&1 || theirs=1
    echo "$states $ours $theirs"
done
END
    unshare -m bash try >table
    cat table
    [ "$(wc -l <table)" -eq 27 ]
    [ "$(awk '$2 != $3' table)" = "" ]
    [ "$(awk '$2 == 0' table | wc -l)" -eq 13 ] # those whose first existing directory has the good certificate
}

# ---- CAs ----

@test "the CAs of the system are trusted in addition to those of the registry" {
    local -a auth=(REGISTRY_AUTH_FILE="$PWD/auth.json")
    printf '{"auths":{"%s":{"auth":"%s"}}}' "$PASSWORD" "$(printf lab:secret | base64)" >auth.json
    mkdir certs
    cp "$GOOD/ca.crt" certs # the CA of the other registry
    run env "${auth[@]}" "$FLATTEN" -q --cert-dir=certs "docker://$PASSWORD/$SOURCE_PATH" oci:out:a
    [ "$status" -eq 3 ]
    ok_env "${auth[@]}" SSL_CERT_FILE="$TLS/ca.pem" -- --cert-dir=certs "docker://$PASSWORD/$SOURCE_PATH" oci:out:a
    cp "$TLS/ca.pem" certs/second.crt
    ok_env "${auth[@]}" -- --cert-dir=certs "docker://$PASSWORD/$SOURCE_PATH" oci:out:b
    ok_env "${auth[@]}" SSL_CERT_FILE="$CERTS/ca.pem" -- --cert-dir=certs "docker://$PASSWORD/$SOURCE_PATH" oci:out:c
}

# ok_env VARIABLE... -- WORD...: flatten succeeds with these variables.
ok_env() {
    local -a variables=()
    while [ "$1" != -- ]; do
        variables+=("$1")
        shift
    done
    shift
    run --separate-stderr env "${variables[@]}" "$FLATTEN" -q "$@"
    show
    [ "$status" -eq 0 ]
}

# ---- invalid certificates ----

@test "a key without its certificate, or a certificate without its key, is an error that names the file" {
    mkdir certs
    cp "$GOOD/ca.crt" "$GOOD/client.key" certs
    fails 2 "certs/client.key: its certificate client.cert is missing" --cert-dir=certs \
        "docker://$MUTUAL/$SOURCE_PATH" oci:out
    mv certs/client.key certs/other.key
    cp "$GOOD/client.cert" certs
    fails 2 "certs/client.cert: its key client.key is missing" --cert-dir=certs \
        "docker://$MUTUAL/$SOURCE_PATH" oci:out
}

@test "a wrong key, an encrypted key, damaged files and two client certificates are errors" {
    mkdir certs
    cp "$GOOD"/client.* certs
    cp "$CERTS/server.key" certs/client.key
    fails 5 "certs/client.key: the key is not its certificate's" --cert-dir=certs \
        "docker://$MUTUAL/$SOURCE_PATH" oci:out
    openssl ec -in "$GOOD/client.key" -aes256 -passout pass:x -out certs/client.key 2>/dev/null
    fails 5 "one with a password" --cert-dir=certs "docker://$MUTUAL/$SOURCE_PATH" oci:out
    cp "$GOOD/client.key" certs
    sed '3s/.*/!!!/' "$GOOD/client.cert" >certs/client.cert
    fails 5 "certs/client.cert: a certificate in it is damaged" --cert-dir=certs \
        "docker://$MUTUAL/$SOURCE_PATH" oci:out
    cp "$GOOD/client.cert" certs
    cp "$GOOD/client.cert" certs/second.cert
    cp "$GOOD/client.key" certs/second.key
    fails 8 "certs/second.cert: it is not the only client certificate" --cert-dir=certs \
        "docker://$MUTUAL/$SOURCE_PATH" oci:out
    rm certs/second.*
    echo nothing >certs/ca.crt
    fails 5 "certs/ca.crt: it has no certificate in PEM form" --cert-dir=certs \
        "docker://$MUTUAL/$SOURCE_PATH" oci:out
    rm certs/ca.crt
    mkfifo certs/ca.crt
    fails 5 "not a regular file" --cert-dir=certs "docker://$MUTUAL/$SOURCE_PATH" oci:out
    fails 3 "--cert-dir" --cert-dir=nowhere "docker://$MUTUAL/$SOURCE_PATH" oci:out
}

# ---- a proxy ----

# proxy WORD...: starts a proxy with these modes; PROXY is its address.
proxy() {
    python3 "$FLATTEN_LIB/servers/proxy.py" "$PWD/proxy" "$@" >proxy.out 2>&1 </dev/null 3>&- &
    PROXY_PID=$!
    wait_until test -e proxy.port
    PROXY=http://127.0.0.1:$(cat proxy.port)
}

@test "HTTPS_PROXY: the proxy resolves the name of the registry; NO_PROXY lists exceptions" {
    local name=registry.invalid:${MUTUAL#*:}
    proxy connect
    HTTPS_PROXY=$PROXY ok -q --cert-dir="$GOOD" "docker://$name/$SOURCE_PATH" oci:out:flat
    same oci:out:flat "$IMAGES/layout"
    [ "$(sort -u proxy.log)" = "CONNECT $name" ]
    HTTPS_PROXY=$PROXY NO_PROXY=.invalid fails 3 "resolve" --retries=0 --cert-dir="$GOOD" \
        "docker://$name/$SOURCE_PATH" oci:no
    : >proxy.log
    HTTPS_PROXY=$PROXY ok -q --cert-dir="$GOOD" "docker://$MUTUAL/$SOURCE_PATH" oci:out:loopback
    [ ! -s proxy.log ]
}

@test "a proxy that rejects the password is an error at once, and the password is not printed" {
    proxy refuse
    SECONDS=0
    HTTPS_PROXY=http://me:hidden@${PROXY#http://} fails 3 "407" "docker://registry.invalid/a/b" oci:no
    [[ $stderr != *hidden* ]]
    [ "$SECONDS" -lt 60 ]
    [ "$(wc -l <proxy.log)" -eq 1 ]
}

@test "a proxy whose second CONNECT succeeds is retried" {
    proxy connect busy
    HTTPS_PROXY=$PROXY ok -q --cert-dir="$GOOD" \
        "docker://registry.invalid:${MUTUAL#*:}/$SOURCE_PATH" oci:out:flat
    [ "$(wc -l <proxy.log)" -ge 2 ]
}
