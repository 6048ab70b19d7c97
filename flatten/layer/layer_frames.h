/*
 * The zstd frames that stand in a layer for parts of its archive. One thread adds them, before the
 * part goes to the relay; another takes them, when the part arrives.
 */
#ifndef FLATTEN_LAYER_FRAMES_H
#define FLATTEN_LAYER_FRAMES_H

#include "flatten/layer/entry_sink.h"

#include <pthread.h>
#include <stdbool.h>

struct layer_frame {
    uint64_t from, to; /* in the archive; of any length but 0 */
    struct frame_place place;
};

struct layer_frames {
    pthread_mutex_t lock;
    struct layer_frame *list;
    size_t count, cap;
    size_t first; /* not taken yet */
};

/* Makes an empty list. */
void layer_frames_init(struct layer_frames *f);

/* Frees what it owns; no thread may use it any more. */
void layer_frames_clear(struct layer_frames *f);

/* Adds a frame, behind those before it. */
int layer_frames_add(struct layer_frames *f, const struct layer_frame *frame,
                     struct err *err) must_check;

/*
 * Sets *out to the first frame that ends behind `at`, which never decreases. Returns false if there
 * is none yet.
 */
bool layer_frames_find(struct layer_frames *f, uint64_t at, struct layer_frame *out);

#endif
