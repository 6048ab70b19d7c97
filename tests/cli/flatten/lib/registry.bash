# shellcheck shell=bash
# A real registry (Debian's docker-registry) on a loopback port, with everything it writes in $1.

# registry_start DIR [EXTRA_CONFIG]: REGISTRY is its host:port, REGISTRY_PID its process.
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

# The registry listens, or has ended.
registry_settled() { grep -q 'listening on 127' "$1/log" || ! kill -0 "$REGISTRY_PID"; }

# registry_stop_all DIR: those that were started below it.
registry_stop_all() {
    [ ! -e "$1/registry.pids" ] || while read -r pid; do
        kill "$pid" 2>/dev/null || true
    done <"$1/registry.pids"
}

# few_cas: one CA instead of the system's. A sanitized flatten takes a quarter of a second to read those,
# in each run, also where the registry speaks no TLS.
few_cas() {
    mkdir "$BATS_FILE_TMPDIR/ca"
    tls_make "$BATS_FILE_TMPDIR/ca" || return
    export SSL_CERT_FILE=$BATS_FILE_TMPDIR/ca/ca.pem
}

# tls_make DIR: a CA (ca.pem) and a certificate for 127.0.0.1 and localhost that it signed.
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

# tls_client DIR NAME: NAME.cert and NAME.key, a client's, by the CA that is in DIR.
tls_client() {
    {
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
            -subj /CN=client -keyout "$2.key" -out "$2.csr" &&
            openssl x509 -req -in "$2.csr" -CA "$1/ca.pem" -CAkey "$1/ca.key" -CAcreateserial \
                -days 2 -out "$2.cert" && rm "$2.csr"
    } >"$1/openssl.log" 2>&1 || { cat "$1/openssl.log"; return 1; }
}

# registry_start_mutual DIR: with TLS, for clients with a certificate by its CA; client.* is one.
registry_start_mutual() {
    mkdir -p "$1"
    tls_make "$1" && tls_client "$1" "$1/client" || return
    registry_start "$1" "  tls: { certificate: $1/server.pem, key: $1/server.key, clientcas: [$1/ca.pem] }"
}

# registry_start_tls DIR USER PASSWORD: with TLS and Basic authentication.
registry_start_tls() {
    mkdir -p "$1"
    tls_make "$1" || return
    htpasswd -Bbn "$2" "$3" >"$1/htpasswd" || return
    registry_start "$1" "  tls: { certificate: $1/server.pem, key: $1/server.key }
auth:
  htpasswd: { realm: test, path: $1/htpasswd }"
}
