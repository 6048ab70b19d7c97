#include "flatten/keeper/http/http_reach.h"

#include "flatten/keeper/http/http.h"

#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

/* `a` is in host byte order. */
static enum http_place place_of_v4(uint32_t a)
{
    if (a >> 24 == 127 || a >> 24 == 0)
        return HTTP_LOOPBACK;
    /* 100.100.100.200 is the metadata service of Alibaba Cloud. */
    return a >> 16 == 0xa9fe || a == 0x646464c8 ? HTTP_LINK_LOCAL : HTTP_ELSEWHERE;
}

static enum http_place place_of_v6(const struct in6_addr *a)
{
    static const uint8_t nat64[12] = {0, 0x64, 0xff, 0x9b};                   /* RFC 6052 */
    static const uint8_t amazon[16] = {0xfd, 0, 0xe, 0xc2, [14] = 0x2, 0x54}; /* metadata of AWS */
    uint32_t v4;

    if (IN6_IS_ADDR_LOOPBACK(a) || IN6_IS_ADDR_UNSPECIFIED(a))
        return HTTP_LOOPBACK;
    if (IN6_IS_ADDR_LINKLOCAL(a) || memcmp(a, amazon, sizeof(amazon)) == 0)
        return HTTP_LINK_LOCAL;
    if (!IN6_IS_ADDR_V4MAPPED(a) && !IN6_IS_ADDR_V4COMPAT(a) &&
        memcmp(a, nat64, sizeof(nat64)) != 0)
        return HTTP_ELSEWHERE;
    memcpy(&v4, a->s6_addr + 12, sizeof(v4));
    return place_of_v4(ntohl(v4));
}

enum http_place http_address_place(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return place_of_v4(
            ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr));
    if (address->sa_family == AF_INET6)
        return place_of_v6(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
    return HTTP_ELSEWHERE;
}

static bool is_localhost(const char *host)
{
    static const char name[] = "localhost";
    size_t len = strlen(host), name_len = sizeof(name) - 1;

    while (len > 0 && host[len - 1] == '.')
        len--;
    return len >= name_len && strncasecmp(host + len - name_len, name, name_len) == 0 &&
           (len == name_len || host[len - name_len - 1] == '.');
}

static enum http_place host_place(const char *host)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;

    if (is_localhost(host))
        return HTTP_LOOPBACK;
    if (getaddrinfo(host, NULL, &hints, &found) != 0)
        return HTTP_ELSEWHERE;
    enum http_place place = http_address_place(found->ai_addr);
    freeaddrinfo(found);
    return place;
}

enum http_place http_url_place(const char *url)
{
    _cleanup_free_ char *host = http_url_host(url);

    return host ? host_place(host) : HTTP_ELSEWHERE;
}
