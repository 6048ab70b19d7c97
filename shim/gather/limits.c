#include "shim/gather/limits.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { DEFAULT_PERIOD = 100000 };              /* microseconds, of the kernel */
enum { LONGEST_LIST = 100 + 6 * LIMITS_CPUS }; /* the kernel takes no longer one (cpuset.c) */

static uint64_t smaller(uint64_t a, uint64_t b)
{
    if (!a || !b)
        return a ? a : b;
    return a < b ? a : b;
}

/* ---- memory ---- */

static uint64_t positive(const struct json *value)
{
    int64_t number;

    return json_i64(value, &number) && number > 0 ? (uint64_t)number : 0;
}

/* Reads a number and sets *rest behind it. Returns 0 for anything else, such as "max". */
static uint64_t take_number(const char **rest)
{
    uint64_t number = 0;
    const char *p = *rest;

    for (; isdigit((unsigned char)*p); p++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*p - '0'), &number))
            return 0;
    *rest = p;
    return number;
}

static uint64_t memory_max(const struct json *unified)
{
    const char *text = json_text(json_get(unified, "memory.max"));

    if (!text)
        return 0;
    uint64_t number = take_number(&text);
    return *text ? 0 : number;
}

/* ---- CPUs ---- */

/* Reads a number below LIMITS_CPUS. False if there is none. */
static bool take_cpu(const char **rest, unsigned *out)
{
    if (!isdigit((unsigned char)**rest))
        return false;
    uint64_t number = take_number(rest);
    *out = (unsigned)number;
    return number < LIMITS_CPUS && !isdigit((unsigned char)**rest);
}

uint64_t limits_count_cpus(const char *list)
{
    bool named[LIMITS_CPUS] = {false};
    uint64_t count = 0;

    if (strnlen(list, LONGEST_LIST + 1) > LONGEST_LIST)
        return 0; /* a long list would take long: each part may name all CPUs */
    for (const char *p = list;; p++) {
        unsigned first, last;
        if (!take_cpu(&p, &first))
            return 0;
        last = first;
        if (*p == '-') {
            p++;
            if (!take_cpu(&p, &last))
                return 0;
        }
        for (unsigned i = first; i <= last; i++) {
            count += !named[i];
            named[i] = true;
        }
        if (last < first || (*p && *p != ','))
            return 0;
        if (!*p)
            return count;
    }
}

static uint64_t count_text(const struct json *value)
{
    const char *text = json_text(value);

    return text ? limits_count_cpus(text) : 0;
}

static uint64_t whole_cpus(uint64_t quota, uint64_t period)
{
    if (!quota)
        return 0;
    uint64_t cpus = quota / (period ? period : DEFAULT_PERIOD);
    return cpus ? cpus : 1;
}

/* Reads "QUOTA PERIOD" or "QUOTA" of cpu.max. */
static uint64_t cpu_max(const struct json *unified)
{
    const char *text = json_text(json_get(unified, "cpu.max"));

    if (!text)
        return 0;
    uint64_t quota = take_number(&text), period = 0;
    if (*text == ' ') {
        text++;
        period = take_number(&text);
    }
    return *text ? 0 : whole_cpus(quota, period);
}

void limits_read(const struct spec *spec, struct container_limits *out)
{
    const struct json *resources = json_path(spec->root, "linux", "resources", NULL);
    const struct json *cpu = json_get(resources, "cpu");
    const struct json *unified = json_get(resources, "unified");

    *out = (struct container_limits){
        .memory =
            smaller(positive(json_path(resources, "memory", "limit", NULL)), memory_max(unified)),
        .quota_cpus =
            smaller(whole_cpus(positive(json_get(cpu, "quota")), positive(json_get(cpu, "period"))),
                    cpu_max(unified)),
        .set_cpus = smaller(count_text(json_get(cpu, "cpus")),
                            count_text(json_get(unified, "cpuset.cpus"))),
    };
}
