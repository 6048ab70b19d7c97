/* An image on this host: the directories of its layers, and its configuration. */
#ifndef SHIM_ENGINE_IMAGE_H
#define SHIM_ENGINE_IMAGE_H

#include "base/arena.h"
#include "base/json/json.h"

struct engine_image {
    const char **layers; /* directories, topmost first; in the arena */
    size_t count;
    struct json_doc *config; /* Env, Entrypoint, User, WorkingDir …; NULL: none; owned */
};

/*
 * Asks docker, then podman, for an image that is kept in overlay layers; each has two seconds to
 * answer. ERR_USAGE if neither has it.
 */
int engine_image_find(const char *image, struct arena *arena, struct engine_image *out,
                      struct err *err) must_check;

/* Adds directories, separated by colons, to the layers. */
int engine_image_add(const char *list, struct arena *arena, struct engine_image *out,
                     struct err *err) must_check;

/* Takes a word of a command line: directories if it starts with "/" or ".", else an image. */
int engine_image_read(const char *word, struct arena *arena, struct engine_image *out,
                      struct err *err) must_check;

/* Frees the configuration. */
void engine_image_free(struct engine_image *image);

#define _cleanup_engine_image_ _cleanup_(engine_image_free)

#endif
