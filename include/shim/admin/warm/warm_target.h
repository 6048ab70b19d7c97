/* The places that an operand of flatbed warm names: a container's, an image's, or a volume. */
#ifndef ADMIN_WARM_TARGET_H
#define ADMIN_WARM_TARGET_H

#include "shim/admin/watch/target.h"
#include "shim/warm/record/warm_place.h"
#include "shim/warm/warm_start.h"

enum { WARM_TARGET_PLACES = 65 };

struct warm_target {
    struct container_list containers; /* owned */
    struct target process;            /* of the container; pid 0: the operand is none that runs */
    struct layers layers;             /* of the container */
    struct warm_volume volumes[WARM_TARGET_PLACES];
    size_t volume_count;
    struct warm_place places[WARM_TARGET_PLACES]; /* that can be recorded */
    size_t count;
};

#define WARM_TARGET_INIT                                                                           \
    {                                                                                              \
        .process = TARGET_INIT                                                                     \
    }

/*
 * Finds them: an absolute path is a volume's directory; else a container that runs, by its name or
 * the start of its ID; else an image of docker or podman. `stores` are more directories of engines.
 * ERR_USAGE if it is nothing of these. Everything is in the arena, or owned; the caller closes it.
 */
int warm_target_find(const char *operand, const char *const *stores, size_t store_count,
                     struct arena *arena, struct warm_target *out, struct err *err) must_check;

/* Closes it. Safe on WARM_TARGET_INIT. */
void warm_target_close(struct warm_target *target);

#define _cleanup_warm_target_ _cleanup_(warm_target_close)

#endif
