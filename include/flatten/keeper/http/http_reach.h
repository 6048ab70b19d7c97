/*
 * The places that a server must not lead a client to: addresses of this host (loopback) and of its
 * link, where cloud providers answer with secrets of the machine. A token realm, a redirect, a
 * Location or a name that resolves to such an address would make the client a deputy of the server.
 * A registry that is at such a place itself may lead to others there.
 */
#ifndef FLATTEN_HTTP_REACH_H
#define FLATTEN_HTTP_REACH_H

#include <stdbool.h>

struct sockaddr;

enum http_place {
    HTTP_ELSEWHERE,  /* any other address, or a name that is not known without asking */
    HTTP_LOOPBACK,   /* RFC 1122, 3.2.1.3; RFC 4291, 2.5.3; also 0.0.0.0/8 and :: */
    HTTP_LINK_LOCAL, /* RFC 3927; RFC 4291, 2.5.6; also metadata services at other addresses */
};

/*
 * The place of a server, found at the first connection to it, to any address. From then on, only
 * addresses at the same place and elsewhere are permitted. One thread makes the first connection
 * before others share the struct.
 */
struct http_reach {
    bool settled;
    enum http_place place;
};

/* Returns the place of an address; HTTP_ELSEWHERE for families other than IPv4 and IPv6. */
enum http_place http_address_place(const struct sockaddr *address);

/*
 * Returns the place of a URL's host, as libcurl reads it: an address in any notation, or localhost
 * and names below it (RFC 6761, 6.3).
 */
enum http_place http_url_place(const char *url);

#endif
