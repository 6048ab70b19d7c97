/*
 * The zstd frames that stand in a layer for parts of its archive. One thread adds them; another
 * takes each when it has written all that comes before.
 */
#ifndef FLATTEN_LAYER_FRAMES_H
#define FLATTEN_LAYER_FRAMES_H

#include "base/cleanup.h"
#include "base/err.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct layer_frame {
    uint64_t from; /* in the archive */
    size_t len;    /* there, bytes */
    int fd;        /* that has the frame, borrowed */
    uint64_t at;
    size_t size; /* bytes */
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

/* Takes the frame that begins at that byte of the archive. Returns false if there is none. */
bool layer_frames_take(struct layer_frames *f, uint64_t from, struct layer_frame *out);

#endif
