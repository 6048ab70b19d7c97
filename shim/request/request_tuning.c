/* Requests for /dev/shm, locked memory and data loader workers. */
#include "shim/policy/size.h"
#include "shim/request/request_value.h"

#include <string.h>

const char *const request_tuning_names[TUNING_ASKABLE] = {
    [TUNING_SHM] = "shm",
    [TUNING_MEMLOCK] = "memlock",
    [TUNING_WORKERS] = "workers",
};

static bool read_amount(enum tuning_kind kind, const char *text, uint64_t *out)
{
    if (kind == TUNING_MEMLOCK && strcmp(text, "unlimited") == 0) {
        *out = SIZE_UNLIMITED;
        return true;
    }
    bool plain = text[strspn(text, "0123456789")] == '\0';
    return (plain || kind != TUNING_WORKERS) && size_parse(text, out) && *out;
}

int request_tuning(struct request_reader *r, enum tuning_kind kind, const char *text)
{
    static const char *const expected[TUNING_ASKABLE] = {
        [TUNING_SHM] = "a size such as 8g",
        [TUNING_MEMLOCK] = "a size such as 512m, or unlimited",
        [TUNING_WORKERS] = "a number such as 4",
    };
    const struct policy_tune *tune = &r->policy->tuning.of[kind];
    uint64_t amount;

    if (!read_amount(kind, text, &amount))
        return request_problem(r, "'%.40s': expected %s", text, expected[kind]);
    if (!tune->value.given && !tune->most.given)
        return request_problem(r, "it may not be asked for here: the policy has no tuning.%s",
                               policy_tuning_names[kind]);
    r->out->tuning[kind] = (struct tuning_request){.key = r->key, .amount = amount};
    return 0;
}
