#include "flatten/keeper/registry/registry.h"

#include "flatten/keeper/registry/registry_internal.h"
#include "flatten/stream/interrupt.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

enum {
    FIRST_WAIT_MS = 500,
    LONGEST_WAIT_MS = 30 * 1000,
    LONGEST_ASKED_S = 300, /* the longest Retry-After that is obeyed */
    TICK_MS = 50,
};

bool registry_may_pass(long status)
{
    return status == 408 || status == 429 || status == 500 || (status >= 502 && status <= 504);
}

/* Reads Retry-After (RFC 9110, 10.2.3), in seconds: a number, or a date in the preferred form. */
static bool asked_wait(const struct http_reply *reply, uint64_t *seconds)
{
    size_t len, digits;
    const char *value = http_header(reply, "Retry-After", 0, &len);
    struct tm date = {0};
    char text[64];

    if (!value || len == 0 || len >= sizeof(text))
        return false;
    memcpy(text, value, len);
    text[len] = '\0';
    digits = strspn(text, "0123456789");
    if (digits == len) {
        *seconds = digits > 9 ? UINT32_MAX : strtoull(text, NULL, 10);
        return true;
    }
    const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &date);
    if (!end || *end)
        return false;
    time_t then = timegm(&date), now = time(NULL);
    *seconds = then > now ? (uint64_t)(then - now) : 0;
    return true;
}

/*
 * Returns how long to wait: half of it is random, so that clients that were refused together do not
 * come back together.
 */
static uint64_t backoff_ms(unsigned tries)
{
    uint64_t wait = (uint64_t)FIRST_WAIT_MS << (tries < 8 ? tries : 8), chance;

    if (wait > LONGEST_WAIT_MS)
        wait = LONGEST_WAIT_MS;
    if (getrandom(&chance, sizeof(chance), GRND_NONBLOCK) != (ssize_t)sizeof(chance))
        chance = (uint64_t)time(NULL);
    return wait / 2 + chance % (wait / 2);
}

static int pause_ms(const struct http *h, uint64_t ms, struct err *err)
{
    const struct timespec tick = {0, TICK_MS * 1000000L};

    for (uint64_t slept = 0; slept < ms; slept += TICK_MS) {
        if (interrupt_check(err) < 0)
            return -1;
        if (http_stopped(h))
            return err_set(err, ERR_SYSTEM, "stopped");
        nanosleep(&tick, NULL);
    }
    return 0;
}

int registry_retry(struct registry *r, const struct http *h, unsigned *tries, int rc,
                   struct http_reply *reply, struct err *err)
{
    uint64_t seconds;
    bool again =
        rc < 0 ? reply->failure == HTTP_BROKEN || (reply->failure == HTTP_NO_CONNECT && r->answered)
               : registry_may_pass(reply->status);

    if (!again || *tries >= r->options.retries)
        return rc;
    bool asked = rc == 0 && asked_wait(reply, &seconds);
    if (asked && seconds > LONGEST_ASKED_S)
        return 0; /* too long to wait: the reply stands */
    uint64_t wait = asked ? seconds * 1000 : backoff_ms(*tries);
    ++*tries;
    http_reply_clear(reply);
    if (rc < 0)
        *err = (struct err)ERR_INIT;
    return pause_ms(h, wait, err) < 0 ? -1 : 1;
}
