#include "flatten/layer/layer_frames.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_ROOM = 16 };

void layer_frames_init(struct layer_frames *f)
{
    *f = (struct layer_frames){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void layer_frames_clear(struct layer_frames *f)
{
    pthread_mutex_destroy(&f->lock);
    free(f->list);
}

/* Makes room for one more, first where frames have been taken. */
static bool make_room(struct layer_frames *f)
{
    size_t cap = f->cap ? 2 * f->cap : LEAST_ROOM;

    if (f->count < f->cap)
        return true;
    if (f->first > f->cap / 2) {
        f->count -= f->first;
        memmove(f->list, f->list + f->first, f->count * sizeof(*f->list));
        f->first = 0;
        return true;
    }
    struct layer_frame *list = realloc(f->list, cap * sizeof(*list));
    if (!list)
        return false;
    f->list = list;
    f->cap = cap;
    return true;
}

int layer_frames_add(struct layer_frames *f, const struct layer_frame *frame, struct err *err)
{
    pthread_mutex_lock(&f->lock);
    bool room = make_room(f);
    if (room)
        f->list[f->count++] = *frame;
    pthread_mutex_unlock(&f->lock);
    return room ? 0 : err_nomem(err);
}

bool layer_frames_take(struct layer_frames *f, uint64_t from, struct layer_frame *out)
{
    pthread_mutex_lock(&f->lock);
    bool found = f->first < f->count && f->list[f->first].from == from;
    if (found)
        *out = f->list[f->first++];
    pthread_mutex_unlock(&f->lock);
    return found;
}
