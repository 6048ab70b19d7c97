#include "shim/admin/stage/stage_follow.h"

#include "base/human.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_EVERY = 50 /* milliseconds */ };

static struct stage_wanted wanted_of(const struct stage_target *t)
{
    return (struct stage_wanted){
        .rules = &t->volume->stage,
        .path = t->real,
        .root = t->root,
        .user = t->has_user ? &t->user : NULL,
        .metrics = t->metrics,
        .again = true,
    };
}

static void put_bar(double share)
{
    enum { WIDTH = 20 };
    static const char full[] = "####################", empty[] = "....................";
    int done = (int)(share * WIDTH / 100);

    fprintf(stderr, "[%.*s%.*s] ", done, full, WIDTH - done, empty);
}

/* Appends ", 310.0 MiB/s, 2 min 9 s left". */
static void put_rate(const struct stage_progress *p, uint64_t seconds)
{
    char rate[HUMAN_SIZE];
    uint64_t speed = seconds ? p->bytes / seconds : 0;

    if (!speed)
        return;
    uint64_t left = p->total > p->bytes ? (p->total - p->bytes) / speed : 0;
    fprintf(stderr, ", %s/s, ", human_size_binary(speed, rate));
    if (left >= 60)
        fprintf(stderr, "%" PRIu64 " min ", left / 60);
    fprintf(stderr, "%" PRIu64 " s left", left % 60);
}

/* Draws "[###.......] 33 %, 2.1 GiB of 6.3 GiB, 12 of 36 files, …" over the line before. */
static void draw(const struct stage_progress *p)
{
    char done[HUMAN_SIZE], total[HUMAN_SIZE];
    time_t now = time(NULL);

    fputs("\r\033[K", stderr);
    if (!p->total_files && p->bytes)
        fprintf(stderr, "fetched so far: %s", human_size_binary(p->bytes, done));
    else if (!p->total_files)
        fputs("looking through the source", stderr);
    if (!p->total_files)
        return;
    double share = human_share(p->bytes, p->total);
    put_bar(share > 100 ? 100 : share);
    fprintf(stderr, "%.0f %%, %s of %s, %" PRIu64 " of %" PRIu64 " files", share,
            human_size_binary(p->bytes, done), human_size_binary(p->total, total), p->files,
            p->total_files);
    put_rate(p, (uint64_t)now > p->since ? (uint64_t)now - p->since : 0);
}

/* Looks until the copy is there or has failed. */
static int follow(const struct stage_wanted *wanted, bool show, struct err *err)
{
    enum { GRACE = 100 }; /* looks without a copier, which starts at idle priority */
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

int stage_follow(const struct stage_target *target, bool wait, bool show, struct arena *arena,
                 struct stage_offer *out, struct err *err)
{
    const struct stage_wanted wanted = wanted_of(target);

    if (stage_begin(&wanted, target->fd, arena, out, err) < 0)
        return -1;
    if (!wait || out->entry.state != STAGE_COPYING)
        return 0;
    stage_offer_close(out);
    return follow(&wanted, show, err) < 0 ? -1 : stage_look(&wanted, arena, out, err);
}
