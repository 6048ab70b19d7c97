/* The "tuning" section. */
#include "base/size.h"
#include "shim/policy/read/sections/sections.h"

#include <stdlib.h>
#include <string.h>

/* The forms that a value of each kind may have, beside a number and false. */
static const struct {
    bool bytes, share, unlimited;
    const char *expected;
} forms[TUNING_KINDS] = {
    [TUNING_SHM] = {true, true, false, "a size such as \"8g\", a share such as \"50%\", or false"},
    [TUNING_MEMLOCK] = {true, false, true, "a size such as \"512m\", \"unlimited\", or false"},
    [TUNING_WORKERS] = {false, true, false,
                        "a number, a share of the CPUs such as \"75%\", or false"},
    [TUNING_NOFILE] = {false, false, false, "a number, or false"},
    [TUNING_STACK] = {true, false, true, "a size such as \"16m\", \"unlimited\", or false"},
};

/* The tuning of one kind that is being read. */
struct target {
    enum tuning_kind kind;
    struct policy_tune *tune;
};

static bool read_share(const char *text, struct policy_amount *out)
{
    size_t digits = strspn(text, "0123456789");

    if (!digits || digits > 3 || strcmp(text + digits, "%") != 0)
        return false;
    out->share = true;
    out->number = strtoul(text, NULL, 10);
    return out->number >= 1 && out->number <= 100;
}

static bool read_amount_text(enum tuning_kind kind, const char *text, struct policy_amount *out)
{
    if (forms[kind].unlimited && strcmp(text, "unlimited") == 0) {
        out->number = SIZE_UNLIMITED;
        return true;
    }
    if (forms[kind].share && strchr(text, '%'))
        return read_share(text, out);
    return forms[kind].bytes && size_parse(text, &out->number) && out->number;
}

static int read_amount(struct decoder *d, const struct json *value, enum tuning_kind kind,
                       struct policy_amount *out)
{
    struct policy_amount amount = {.given = true};
    const char *text = json_text(value);
    bool off = value->type == JSON_BOOL && !value->boolean;

    if (off)
        amount.given = false;
    else if (text && !read_amount_text(kind, text, &amount))
        return decode_fail(d, value, "'%.40s': expected %s", text, forms[kind].expected);
    else if (!text &&
             (!json_u64(value, &amount.number) || !amount.number || amount.number > INT64_MAX))
        return decode_fail(d, value, "expected %s", forms[kind].expected);
    *out = amount;
    return 0;
}

static int read_default(struct decoder *d, const struct json *value, void *target)
{
    const struct target *t = target;

    return read_amount(d, value, t->kind, &t->tune->value);
}

static int read_max(struct decoder *d, const struct json *value, void *target)
{
    const struct target *t = target;

    return read_amount(d, value, t->kind, &t->tune->most);
}

static int read_tune(struct decoder *d, const struct json *value, enum tuning_kind kind,
                     struct policy_tuning *tuning)
{
    static const struct decode_key keys[] = {{"default", read_default}, {"max", read_max}};
    struct target t = {.kind = kind, .tune = &tuning->of[kind]};
    const struct policy_amount *most = &t.tune->most;

    t.tune->place = decode_place(d, value);
    if (value->type != JSON_OBJECT) {
        t.tune->most = (struct policy_amount){0};
        return read_default(d, value, &t);
    }
    /* The other kinds cannot be asked for, so they have no maximum. */
    if (decode_object(d, value, keys, kind < TUNING_ASKABLE ? 2 : 1, &t) < 0)
        return -1;
    if (most->given && most->share == t.tune->value.share && most->number < t.tune->value.number)
        return decode_fail(d, value, "the default is more than the maximum");
    return 0;
}

#define READER(name, kind)                                                                         \
    static int read_##name(struct decoder *d, const struct json *value, void *target)              \
    {                                                                                              \
        return read_tune(d, value, kind, target);                                                  \
    }

READER(shm_size, TUNING_SHM)
READER(memlock, TUNING_MEMLOCK)
READER(workers, TUNING_WORKERS)
READER(nofile, TUNING_NOFILE)
READER(stack, TUNING_STACK)

static int read_threads(struct decoder *d, const struct json *value, void *target)
{
    struct policy_tuning *tuning = target;

    tuning->threads_place = decode_place(d, value);
    return decode_bool(d, value, &tuning->threads);
}

static int read_worker_memory(struct decoder *d, const struct json *value, void *target)
{
    struct policy_tuning *tuning = target;
    struct policy_text text = {0};

    if (decode_text(d, value, &text) < 0)
        return -1;
    if (!size_parse(text.text, &tuning->worker_memory) || !tuning->worker_memory)
        return decode_fail(d, value, "'%.40s': expected a size such as \"2g\"", text.text);
    return 0;
}

int decode_tuning(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {
        {"shm_size", read_shm_size},
        {"memlock", read_memlock},
        {"nofile", read_nofile},
        {"stack", read_stack},
        {"threads", read_threads},
        {"workers", read_workers},
        {"worker_memory", read_worker_memory},
    };
    struct policy *policy = target;

    policy->tuning.given = true;
    return decode_object(d, value, keys, sizeof(keys) / sizeof(*keys), &policy->tuning);
}
