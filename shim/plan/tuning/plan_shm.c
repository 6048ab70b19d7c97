#include "shim/plan/tuning/plan_shm.h"

#include "base/size.h"

#include <string.h>

/* The default of Docker, containerd and `runc spec` is 65536k; a user who asks for that looks the
 * same. */
static const uint64_t default_bytes = (uint64_t)64 << 20;

/* Returns the value of the last "size=" of a tmpfs, which is the one that counts, or NULL. */
static const char *size_option(const struct json *options)
{
    static const char key[] = "size=";

    for (size_t i = json_count(options); i > 0; i--) {
        const char *text = json_text(json_at(options, i - 1));
        if (text && strncmp(text, key, sizeof(key) - 1) == 0)
            return text + sizeof(key) - 1;
    }
    return NULL;
}

static bool counts_blocks(const struct json *options)
{
    for (size_t i = 0; i < json_count(options); i++) {
        const char *text = json_text(json_at(options, i));
        if (text && strncmp(text, "nr_blocks=", strlen("nr_blocks=")) == 0)
            return true;
    }
    return false;
}

/* Denies a request; drops a wish of the policy. */
static int leave_size(struct planner *p, struct plan_op *op, bool asked, const char *why)
{
    return plan_decide(p, op, asked ? PLAN_DENIED : PLAN_SKIPPED, NULL, "%s", why);
}

static int compare_with_mount(struct planner *p, struct plan_op *op, bool asked,
                              const struct spec_mount *mount)
{
    const char *own = size_option(mount->options);
    uint64_t bytes = 0;

    if (counts_blocks(mount->options))
        return plan_decide(p, op, PLAN_KEPT, NULL, "the container sets it itself");
    if (!own)
        return plan_decide(p, op, PLAN_KEPT, NULL, "it is as large as the kernel lets it be");
    if (size_parse(own, &bytes) && bytes == op->shm.bytes)
        return plan_decide(p, op, PLAN_KEPT, NULL, "it is that large already");
    if (bytes != default_bytes)
        return plan_decide(p, op, PLAN_KEPT, NULL, "the container sets it itself: %.32s", own);
    if (!asked && op->shm.bytes < default_bytes)
        return plan_decide(p, op, PLAN_KEPT, NULL, "the engine's default of 64m is more");
    return plan_decide(p, op, PLAN_ADDED, NULL, "in place of the engine's default of 64m");
}

int plan_shm(struct tuner *t)
{
    struct planner *p = t->p;
    struct wish wish;

    if (plan_tune_wish(t, TUNING_SHM, &wish) < 0)
        return -1;
    if (!wish.given)
        return 0;
    struct plan_op *op = plan_tune_push(p, TUNING_SHM, wish.asked_by);
    if (!op)
        return -1;
    op->shm.bytes = wish.amount;
    op->shm.value = plan_tune_text(p, TUNING_SHM, wish.amount);
    if (!op->shm.value)
        return -1;
    const struct spec_mount *mount = plan_mounted_on(p->in->spec, op->shm.target);
    if (!mount)
        return leave_size(p, op, wish.asked, "the container has no /dev/shm of its own");
    if (mount->bind || !mount->type || strcmp(mount->type, "tmpfs") != 0)
        return leave_size(
            p, op, wish.asked,
            "/dev/shm is mounted from elsewhere (shared with other containers, or kept "
            "by the engine, which has its own option for the size)");
    op->shm.entry = json_at(p->in->spec->mounts, (size_t)(mount - p->in->spec->list));
    return compare_with_mount(p, op, wish.asked, mount);
}
