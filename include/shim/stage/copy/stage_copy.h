/*
 * Makes the copy of a source in the cache.
 *
 * The tree is looked through, room is made, and the files are copied. The copy counts only if all
 * that was copied is what was seen at first: then it is the source as it was at one moment. Else it
 * is made anew, three times at most. What an interrupted copy had finished is not read again, as
 * long as the host has not been started anew and the source is the same.
 *
 * Root reads. Where root may not, as on an NFS export with root_squash, the user reads, and the
 * copy is for this user alone, unless all of it is readable for everybody.
 */
#ifndef SHIM_STAGE_COPY_H
#define SHIM_STAGE_COPY_H

#include "shim/host/users/as_user.h"
#include "shim/stage/cache/stage_room.h"

struct stage_source {
    const char *path;            /* without symbolic links */
    int fd;                      /* the directory; O_PATH is enough. Borrowed */
    const struct user_ids *user; /* who reads what root may not, or NULL */
};

/* Called now and then while files are copied. */
typedef void stage_copy_progress(void *context, const struct stage_progress *progress);

struct stage_copy_result {
    struct stage_record record;
    char name[STAGE_NAME];
    size_t evicted;
    bool unchanged; /* there was a copy that is still right, and nothing was copied */
};

/*
 * Copies the source, unless there is a copy that is equal to it. ERR_LIMIT: there is no room, or
 * another process copies it (then *busy is set). All other failures are kept in the cache for ten
 * minutes (STAGE_FAILED). `progress` may be NULL. Texts are in the arena.
 */
int stage_copy(const struct stage_cache *cache, const struct stage_source *source,
               const struct policy_stage *rules, stage_copy_progress *progress, void *context,
               struct arena *arena, struct stage_copy_result *out, bool *busy,
               struct err *err) must_check;

/*
 * Starts stage_copy, or stage_fetch for a source in a registry, in a process of its own
 * (background.h). Failures in it are for the cache and syslog. The result is counted in the file
 * `metrics`, unless that is NULL.
 */
int stage_copy_in_background(const char *cache, const struct stage_source *source,
                             const struct policy_stage *rules, const char *metrics,
                             struct err *err) must_check;

#endif
