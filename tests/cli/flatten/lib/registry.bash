# shellcheck shell=bash
# A real registry (docker-registry of Debian) on a loopback port, with all its files in $1.

# registry_start DIR [EXTRA_CONFIG]: sets REGISTRY to its host:port and REGISTRY_PID to its process.
registry_start() {
    local dir=$1
    mkdir -p "$dir/root"
    cat >"$dir/config.yml" <<END
version: 0.1
log: { level: info }
storage: { filesystem: { rootdirectory: $dir/root } }
http:
  addr: 127.0.0.1:0
${2-}
END
    docker-registry serve "$dir/config.yml" >"$dir/log" 2>&1 </dev/null 3>&- &
    REGISTRY_PID=$!
    echo "$REGISTRY_PID" >>"$dir/../registry.pids"
    wait_until registry_settled "$dir"
    if ! kill -0 "$REGISTRY_PID"; then
        cat "$dir/log"
        return 1
    fi
    REGISTRY=$(grep -o 'listening on 127[0-9.]*:[0-9]*' "$dir/log" | head -n 1)
    REGISTRY=${REGISTRY##* }
}

# True if the registry listens, or has ended.
registry_settled() { grep -q 'listening on 127' "$1/log" || ! kill -0 "$REGISTRY_PID"; }

# registry_stop_all DIR: stops the registries with files below DIR.
registry_stop_all() {
    [ ! -e "$1/registry.pids" ] || while read -r pid; do
        kill "$pid" 2>/dev/null || true
    done <"$1/registry.pids"
}

# few_cas: trusts one CA instead of those of the system. A sanitized flatten needs 0.25 s to read the latter,
# in each run, even where the registry has no TLS.
few_cas() {
    mkdir "$BATS_FILE_TMPDIR/ca"
    tls_make "$BATS_FILE_TMPDIR/ca" || return
    export SSL_CERT_FILE=$BATS_FILE_TMPDIR/ca/ca.pem
}

# tls_make DIR: makes a CA (ca.pem) and a certificate for 127.0.0.1 and localhost, signed by it.
tls_make() {
    (
        cd "$1" || exit
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
            -subj /CN=test-ca -keyout ca.key -out ca.pem
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
            -subj /CN=localhost -keyout server.key -out server.csr
        printf 'subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:registry.invalid\n' >server.ext
        openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
            -extfile server.ext -out server.pem
    ) >"$1/openssl.log" 2>&1 || { cat "$1/openssl.log"; return 1; }
}

# tls_client DIR NAME: makes NAME.cert and NAME.key for a client, signed by the CA in DIR.
tls_client() {
    {
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
            -subj /CN=client -keyout "$2.key" -out "$2.csr" &&
            openssl x509 -req -in "$2.csr" -CA "$1/ca.pem" -CAkey "$1/ca.key" -CAcreateserial \
                -days 2 -out "$2.cert" && rm "$2.csr"
    } >"$1/openssl.log" 2>&1 || { cat "$1/openssl.log"; return 1; }
}

# registry_start_mutual DIR: starts one with TLS that requires client certificates by its CA; client.* is one.
registry_start_mutual() {
    mkdir -p "$1"
    tls_make "$1" && tls_client "$1" "$1/client" || return
    registry_start "$1" "  tls: { certificate: $1/server.pem, key: $1/server.key, clientcas: [$1/ca.pem] }"
}

# registry_start_tls DIR USER PASSWORD: starts one with TLS and Basic authentication.
registry_start_tls() {
    mkdir -p "$1"
    tls_make "$1" || return
    htpasswd -Bbn "$2" "$3" >"$1/htpasswd" || return
    registry_start "$1" "  tls: { certificate: $1/server.pem, key: $1/server.key }
auth:
  htpasswd: { realm: test, path: $1/htpasswd }"
}
