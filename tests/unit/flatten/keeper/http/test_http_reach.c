/* The places of addresses and of hosts in URLs. */
#include "flatten/keeper/http/http.h"
#include "tests/unit/lib/unit.h"

#include <netdb.h>

static enum http_place address_place(const char *text)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;

    if (getaddrinfo(text, NULL, &hints, &found) != 0)
        fail_msg("%s is not an address", text);
    enum http_place place = http_address_place(found->ai_addr);
    freeaddrinfo(found);
    return place;
}

static void test_addresses(void **state)
{
    static const struct {
        const char *text;
        enum http_place place;
    } rows[] = {
        {"127.0.0.1", HTTP_LOOPBACK},
        {"127.255.3.4", HTTP_LOOPBACK},
        {"0.0.0.0", HTTP_LOOPBACK},
        {"0.1.2.3", HTTP_LOOPBACK},
        {"::1", HTTP_LOOPBACK},
        {"::", HTTP_LOOPBACK},
        {"::ffff:127.0.0.1", HTTP_LOOPBACK},
        {"::ffff:0.0.0.0", HTTP_LOOPBACK},
        {"::127.0.0.1", HTTP_LOOPBACK},
        {"64:ff9b::127.0.0.1", HTTP_LOOPBACK},
        {"169.254.0.1", HTTP_LINK_LOCAL},
        {"169.254.169.254", HTTP_LINK_LOCAL},
        {"::ffff:169.254.169.254", HTTP_LINK_LOCAL},
        {"64:ff9b::169.254.169.254", HTTP_LINK_LOCAL},
        {"fe80::1", HTTP_LINK_LOCAL},
        {"febf::1", HTTP_LINK_LOCAL},
        {"fd00:ec2::254", HTTP_LINK_LOCAL},
        {"100.100.100.200", HTTP_LINK_LOCAL},
        {"126.255.255.255", HTTP_ELSEWHERE},
        {"128.0.0.1", HTTP_ELSEWHERE},
        {"1.0.0.0", HTTP_ELSEWHERE},
        {"169.253.255.255", HTTP_ELSEWHERE},
        {"169.255.0.0", HTTP_ELSEWHERE},
        {"10.0.0.1", HTTP_ELSEWHERE},
        {"::2:0:1", HTTP_ELSEWHERE},
        {"::ffff:10.0.0.1", HTTP_ELSEWHERE},
        {"fec0::1", HTTP_ELSEWHERE},
        {"fd00:ec2::253", HTTP_ELSEWHERE},
        {"2001:db8::1", HTTP_ELSEWHERE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (address_place(rows[i].text) != rows[i].place)
            fail_msg("%s is at %d", rows[i].text, address_place(rows[i].text));
}

/* As libcurl reads them: this decides where it connects. */
static void test_hosts(void **state)
{
    static const char *const loopback[] = {
        "http://localhost/",   "https://LOCALHOST:5000/x", "http://a.localhost:1/",
        "http://localhost./",  "http://a.b.localhost./",   "http://127.0.0.1",
        "http://127.1.2.3:9/", "http://[::1]:5000/",       "http://2130706434:80/",
        "http://0x7f.1/",      "http://0177.0.0.1/",       "http://127.1/",
        "http://0/",           "http://[::ffff:7f00:1]/",  "http://%6cocalhost/",
        "http://12%37.0.0.1/", "http://a@127.0.0.1/",      "http://a.org@localhost/",
        "http://[::]/",        "http://127.0.0.1?@a.org/", "http://127.0.0.1#@a.org/",
    };
    static const char *const link_local[] = {
        "http://169.254.169.254/latest", "http://2852039166/",       "http://[fe80::1%25eth0]/",
        "http://[fe80::1]:5000/",        "http://[fd00:ec2::254]/x", "http://0xa9fea9fe/",
    };
    static const char *const elsewhere[] = {
        "http://docker.io/",
        "http://127.0.0.1.example.org/",
        "http://notlocalhost/",
        "http://localhost.org/",
        "http://128.0.0.1/",
        "http://10.0.0.1:5000/",
        "http://[2001:db8::2]:5000/",
        "http://localhost@a.org/",
        "http://127.0.0.1@a.org/",
        "http://localhost\\@a.org/",
        "",
        "http://",
        "x",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(loopback) / sizeof(*loopback); i++)
        if (http_url_place(loopback[i]) != HTTP_LOOPBACK)
            fail_msg("%s", loopback[i]);
    for (size_t i = 0; i < sizeof(link_local) / sizeof(*link_local); i++)
        if (http_url_place(link_local[i]) != HTTP_LINK_LOCAL)
            fail_msg("%s", link_local[i]);
    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(*elsewhere); i++)
        if (http_url_place(elsewhere[i]) != HTTP_ELSEWHERE)
            fail_msg("%s", elsewhere[i]);
}

UNIT_SUITE(test_http_reach)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_hosts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
