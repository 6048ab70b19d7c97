#include "shim/admin/stage/stage_follow.h"

#include "base/human.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_EVERY = 200 /* milliseconds */ };

static struct stage_wanted wanted_of(const struct stage_target *t)
{
    return (struct stage_wanted){
        .rules = &t->volume->stage,
        .path = t->real,
        .root = t->root,
        .user = t->has_user ? &t->user : NULL,
    };
}

/* Prints "41 %, 2.1 GiB of 5.0 GiB, 310.0 MiB/s, 9 s left" over the line before. */
static void draw(const struct stage_progress *p)
{
    char done[HUMAN_SIZE], total[HUMAN_SIZE], rate[HUMAN_SIZE];
    time_t now = time(NULL);
    uint64_t seconds = (uint64_t)now > p->since ? (uint64_t)now - p->since : 0;

    if (!p->total && p->bytes)
        fprintf(stderr, "\r\033[Kfetched so far: %s", human_size_binary(p->bytes, done));
    else if (!p->total)
        fputs("\r\033[Klooking through the source", stderr);
    if (!p->total)
        return;
    fprintf(stderr, "\r\033[K%3.0f %%, %s of %s, %llu of %llu files",
            human_share(p->bytes, p->total), human_size_binary(p->bytes, done),
            human_size_binary(p->total, total), (unsigned long long)p->files,
            (unsigned long long)p->total_files);
    if (seconds && p->bytes) {
        uint64_t speed = p->bytes / seconds;
        fprintf(stderr, ", %s/s", human_size_binary(speed, rate));
        if (speed && p->total > p->bytes)
            fprintf(stderr, ", %llu s left", (unsigned long long)((p->total - p->bytes) / speed));
    }
}

/* Looks until the copy is there or has failed. */
static int follow(const struct stage_wanted *wanted, bool show, struct err *err)
{
    enum { GRACE = 10 }; /* looks without a copier before it is given up */
    const struct timespec pause = {.tv_nsec = LOOK_EVERY * 1000000L};
    unsigned without = 0;
    bool done = false;

    while (!done && without < GRACE) {
        _cleanup_arena_ struct arena arena = {0};
        struct stage_offer now;
        nanosleep(&pause, NULL);
        if (stage_look(wanted, &arena, &now, err) < 0)
            return -1;
        done = now.entry.state == STAGE_READY || now.entry.state == STAGE_FAILED;
        without = now.entry.state == STAGE_COPYING ? 0 : without + 1;
        if (show && now.entry.state == STAGE_COPYING)
            draw(&now.entry.progress);
        stage_offer_close(&now);
    }
    if (show)
        fputs("\r\033[K", stderr);
    return 0;
}

/* Whoever asks at the command line wants another try. */
static void forget_failure(const struct stage_target *t)
{
    _cleanup_stage_cache_ struct stage_cache cache = STAGE_CACHE_INIT;
    char key[STAGE_KEY];
    struct err ignored;

    stage_key(t->real, key);
    if (stage_cache_open(t->volume->stage.cache.text, false, &cache, &ignored) == 0)
        stage_cache_failed(&cache, key, NULL);
}

int stage_follow(const struct stage_target *target, bool wait, bool show, struct arena *arena,
                 struct stage_offer *out, struct err *err)
{
    const struct stage_wanted wanted = wanted_of(target);

    forget_failure(target);
    if (stage_begin(&wanted, target->fd, arena, out, err) < 0)
        return -1;
    if (!wait || out->entry.state != STAGE_COPYING)
        return 0;
    stage_offer_close(out);
    return follow(&wanted, show, err) < 0 ? -1 : stage_look(&wanted, arena, out, err);
}
