#include "flatten/keeper/http/http_guard.h"

#include "flatten/keeper/http/environment.h"
#include "flatten/keeper/http/http_internal.h"

#include <netdb.h>
#include <string.h>
#include <unistd.h>

/* ---- proxies ---- */

struct address_name {
    char host[HTTP_ADDRESS_SIZE], port[8];
};

static bool address_name(const struct sockaddr *a, socklen_t len, struct address_name *out)
{
    return getnameinfo(a, len, out->host, sizeof(out->host), out->port, sizeof(out->port),
                       NI_NUMERICHOST | NI_NUMERICSERV) == 0;
}

static bool resolves_to(const char *host, const char *port, const struct address_name *wanted)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    struct address_name one;
    bool found = false;

    if (getaddrinfo(host, port, &hints, &list) != 0)
        return false;
    for (const struct addrinfo *at = list; at && !found; at = at->ai_next)
        found = address_name(at->ai_addr, at->ai_addrlen, &one) &&
                strcmp(one.host, wanted->host) == 0 && strcmp(one.port, wanted->port) == 0;
    freeaddrinfo(list);
    return found;
}

/* Reads a proxy as libcurl does: without a port it is 1080, or 443 with TLS. */
static bool is_proxy(const char *text, const struct address_name *wanted)
{
    CURLU *url = curl_url();
    char *host = NULL, *port = NULL, *scheme = NULL;
    bool same = false;

    if (url &&
        curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME) ==
            CURLUE_OK &&
        (host = http_url_part_host(url)) &&
        curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK) {
        bool has_port = curl_url_get(url, CURLUPART_PORT, &port, 0) == CURLUE_OK;
        const char *usual = strcmp(scheme, "https") == 0 ? "443" : "1080";
        same = resolves_to(host, has_port ? port : usual, wanted);
    }
    free(host);
    curl_free(port);
    curl_free(scheme);
    curl_url_cleanup(url);
    return same;
}

/* True if the environment names a proxy at that address: the user chose it, not the server. */
static bool is_users_proxy(const struct http_guard *g, const struct address_name *address)
{
    static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                        "ALL_PROXY"};

    for (size_t i = 0; g->proxy && i < sizeof(names) / sizeof(*names); i++) {
        const char *proxy = environment_get(names[i]);
        if (proxy && is_proxy(proxy, address))
            return true;
    }
    return false;
}

/* ---- decisions ---- */

static bool permits_place(const struct http_guard *g, enum http_place place)
{
    if (g->request->loopback_only)
        return place == HTTP_LOOPBACK;
    return place == HTTP_ELSEWHERE || !g->reach->settled || place == g->reach->place;
}

int http_guard_check(const struct http_guard *g, struct err *err)
{
    enum http_place place = g->reach ? http_url_place(g->request->url) : HTTP_ELSEWHERE;

    if (place == HTTP_ELSEWHERE || permits_place(g, place))
        return 0; /* a name: its address is seen when it is known */
    return http_guard_explain(g, err);
}

static bool permits_address(struct http_guard *g, const struct sockaddr *a, socklen_t len)
{
    struct address_name name = {.host = "?"};
    bool named = address_name(a, len, &name);
    bool permitted = permits_place(g, http_address_place(a)) ||
                     (named && !g->request->loopback_only && is_users_proxy(g, &name));

    memcpy(g->refused, permitted ? "" : name.host, permitted ? 1 : sizeof(g->refused));
    return permitted;
}

static curl_socket_t on_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *a)
{
    (void)purpose;
    if (!permits_address(ctx, &a->addr, a->addrlen))
        return CURL_SOCKET_BAD; /* libcurl tries the next address of the name */
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* Notes the place of the server at the first connection to it. */
static void settle(const struct http_guard *g, const struct sockaddr *a, socklen_t len)
{
    struct address_name name;
    bool proxied = address_name(a, len, &name) && is_users_proxy(g, &name);

    g->reach->place = proxied ? http_url_place(g->request->url) : http_address_place(a);
    g->reach->settled = true;
}

static int on_connected(void *ctx, char *address, char *local, int port, int local_port)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                                   .ai_socktype = SOCK_STREAM};
    struct http_guard *g = ctx;
    struct addrinfo *found = NULL;
    char number[16];

    (void)local, (void)local_port;
    snprintf(number, sizeof(number), "%d", port);
    if (getaddrinfo(address, number, &hints, &found) != 0)
        return CURL_PREREQFUNC_ABORT;
    bool permitted = permits_address(g, found->ai_addr, found->ai_addrlen);
    if (permitted && !g->reach->settled)
        settle(g, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return permitted ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

CURLcode http_set_guard(CURL *curl, struct http_guard *g)
{
    if (!g->reach)
        return CURLE_OK;
    SET(CURLOPT_OPENSOCKETFUNCTION, on_socket);
    SET(CURLOPT_OPENSOCKETDATA, g);
    SET(CURLOPT_PREREQFUNCTION, on_connected);
    SET(CURLOPT_PREREQDATA, g);
    return CURLE_OK;
}

int http_guard_explain(const struct http_guard *g, struct err *err)
{
    _cleanup_free_ char *host = http_url_host(g->request->url);
    const char *name = host ? host : "?", *address = *g->refused ? g->refused : name;

    if (g->request->loopback_only)
        return err_set(err, ERR_SYSTEM,
                       "%s is at %s, not on this host: without HTTPS, flatten trusts only "
                       "registries on this host (--insecure accepts others)",
                       name, address);
    return err_set(err, ERR_SYSTEM,
                   "%s is at %s, an address of this host or its link, and the registry is not: "
                   "correct the registry, or name it by an address there if that is where it is",
                   name, address);
}
