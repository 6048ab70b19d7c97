#include "shim/warm/warm.h"

#include "base/human.h"
#include "shim/audit/audit.h"
#include "shim/gather/limits.h"
#include "shim/host/process/background.h"
#include "shim/host/trust.h"
#include "shim/request/facts.h"
#include "shim/warm/record/warm_store.h"
#include "shim/warm/warm_start.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>

enum { MEMORY_LIMIT = 256 * 1024 * 1024 };

static const char *store_of(const struct policy_warm *rules)
{
    return rules->cache.text ? rules->cache.text : WARM_CACHE;
}

int warm_prepare(const struct judgement *j)
{
    if (!j->policy->warm.given || j->policy->mode == POLICY_OFF || !j->rootfs.mount ||
        trust_rootless())
        return -1;
    return open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
}

/* ---- a launch ---- */

/* Returns the directory whose files the container sees in a volume: the copy, the pool, the source.
 */
static const char *directory_of(const struct outcome *o)
{
    const struct plan_mount *m = &o->op->mount;

    return o->staged ? o->staged : m->pool ? m->pool : m->source;
}

static int add_volumes(struct warm_start *s, const struct decision *d, struct arena *arena,
                       struct err *err)
{
    s->volumes = arena_alloc(arena, (d->count + 1) * sizeof(*s->volumes));
    if (!s->volumes)
        return err_nomem(err);
    for (size_t i = 0; i < d->count; i++) {
        const struct outcome *o = &d->list[i];
        if (o->op->kind == PLAN_MOUNT && directory_of(o) &&
            (o->verdict == PLAN_ADDED || o->verdict == PLAN_KEPT || o->verdict == PLAN_DOWNGRADED))
            s->volumes[s->volume_count++] =
                (struct warm_volume){directory_of(o), o->op->mount.target};
    }
    return 0;
}

static void run_start(int fd, void *subject)
{
    struct warm_start *s = subject;
    struct err err = ERR_INIT;

    s->mounts = fd;
    if (warm_start_run(s, &err) < 0 && err_wrap(&err, "warm") < 0)
        audit_syslog_warning(err.msg);
}

void warm_launch(int mounts, const struct judgement *j, const struct decision *d,
                 const struct spec *spec)
{
    _cleanup_arena_ struct arena arena = {.limit = MEMORY_LIMIT};
    struct warm_start s = {.rules = &j->policy->warm,
                           .store = store_of(&j->policy->warm),
                           .image = facts_image(spec),
                           .point = j->rootfs.mount->point,
                           .layers = &j->rootfs.layers,
                           .launcher = getpid(),
                           .arena = &arena};
    struct container_limits limits;
    struct err err = ERR_INIT;

    limits_read(spec, &limits);
    s.limit = limits.memory;
    if (add_volumes(&s, d, &arena, &err) < 0 ||
        background_start("flatbed-warm", mounts, run_start, &s, &err) < 0)
        audit_syslog_warning(err.msg);
}

/* ---- explain ---- */

static const char *describe_record(const struct warm_record *r, struct arena *arena)
{
    char size[HUMAN_SIZE], day[32];
    time_t when = (time_t)r->recorded;
    struct tm local;

    if (*r->off)
        return arena_printf(arena, "nothing is read ahead: %s", r->off);
    if (!localtime_r(&when, &local) || !strftime(day, sizeof(day), "%Y-%m-%d", &local))
        day[0] = '\0';
    return arena_printf(arena, "%s in %zu file%s of the image, recorded on %s, are read ahead",
                        human_size_binary(r->bytes, size), r->count, human_s(r->count), day);
}

static const char *describe(const struct judgement *j, struct arena *arena)
{
    const struct policy_warm *rules = &j->policy->warm;
    _cleanup_warm_store_ struct warm_store store = WARM_STORE_INIT;
    struct err why = ERR_INIT;
    struct warm_record record;
    struct chain chain;

    if (!j->rootfs.mount)
        return "nothing is read ahead: no engine has mounted an overlay as its root";
    if (chain_find(&j->rootfs.layers, j->rootfs.mount->point, arena, &chain, &why) < 0)
        return arena_printf(arena, "nothing is read ahead: %s", why.msg);
    if (warm_store_open(store_of(rules), false, &store, &why) == 0 &&
        warm_store_read(&store, chain.key, chain.record, arena, &record, &why) == 0)
        return describe_record(&record, arena);
    if (why.kind != ERR_SYSTEM || why.sys != ENOENT)
        return arena_printf(arena, "nothing is read ahead: %s", why.msg);
    if (rules->record == RECORD_OFF)
        return "nothing is read ahead: there is no record of its image";
    return arena_printf(arena,
                        "there is no record of its image: %u second%s of a start are recorded",
                        rules->seconds, human_s(rules->seconds));
}

int warm_look(const struct judgement *j, struct arena *arena, const char **out, struct err *err)
{
    *out = NULL;
    if (!j->policy->warm.given || j->policy->mode == POLICY_OFF)
        return 0;
    *out = describe(j, arena);
    return *out ? 0 : err_nomem(err);
}
