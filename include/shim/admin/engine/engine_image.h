/* An image on this host: the directories of its layers, and its configuration. */
#ifndef SHIM_ENGINE_IMAGE_H
#define SHIM_ENGINE_IMAGE_H

#include "base/arena.h"
#include "base/json/json.h"

struct engine_image {
    const char **layers; /* directories, topmost first; in the arena */
    size_t count;
    const struct json *config; /* Env, Entrypoint, User, WorkingDir …; NULL: none */
    struct json_doc *doc;      /* the configuration is in it; owned */
};

/*
 * Asks docker, podman and containerd in turn for an image that is kept in overlay layers; each has
 * two seconds to answer. `containerd` is the socket of one more containerd, or NULL. ERR_USAGE if
 * none has it.
 */
int engine_image_find(const char *image, const char *containerd, struct arena *arena,
                      struct engine_image *out, struct err *err) must_check;

/* Adds directories, separated by colons, to the layers. */
int engine_image_add(const char *list, struct arena *arena, struct engine_image *out,
                     struct err *err) must_check;

/* Takes a word of a command line: directories if it starts with "/" or ".", else an image. */
int engine_image_read(const char *word, const char *containerd, struct arena *arena,
                      struct engine_image *out, struct err *err) must_check;

/* Sets the configuration, which is in `doc`; NULL: none. Takes over the document. */
void engine_image_set(struct engine_image *image, struct json_doc *doc, const struct json *config);

/* Frees the configuration. */
void engine_image_free(struct engine_image *image);

#define _cleanup_engine_image_ _cleanup_(engine_image_free)

#endif
