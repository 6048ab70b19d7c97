/*
 * Questions to containerd, by its command-line client ctr(8): which containers it has, where the
 * files of a stopped one are, the configuration of an image, and where its layers are. Only
 * containerd's database knows these, whose form is private. An answer takes some hundredths of a
 * second; one that takes two seconds is given up.
 */
#ifndef SHIM_CTR_H
#define SHIM_CTR_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json/json.h"

#include <stddef.h>

/* A namespace of a containerd. */
struct ctr_space {
    const char *address; /* of its socket */
    const char *name;
};

enum { CTR_WORDS = 3 };

/* Takes the first words of a line of a table; "" where there are fewer. Returns -1 to end it. */
typedef int ctr_visit(void *ctx, const char *const words[CTR_WORDS], struct err *err);

/* Visits the namespaces of a containerd, by name. ERR_UNSUPPORTED if ctr is not installed. */
int ctr_each_space(const char *address, ctr_visit *visit, void *ctx, struct err *err) must_check;

/* Visits the containers of a namespace: ID, and image, which may be "-". */
int ctr_each_container(const struct ctr_space *space, ctr_visit *visit, void *ctx,
                       struct err *err) must_check;

/*
 * Returns the options of overlayfs that show a snapshot, in the arena. The snapshotter is NULL for
 * a container of containerd, whose entry names it and the key. ERR_UNSUPPORTED for one that is on
 * no overlay.
 */
const char *ctr_options(const struct ctr_space *space, const char *snapshotter, const char *key,
                        struct arena *arena, struct err *err);

/*
 * Returns the directories of the layers of a committed snapshot, topmost first, with colons between
 * them, in the arena. containerd shows them for a view alone: one is made, and removed at once.
 */
const char *ctr_layers(const struct ctr_space *space, const char *snapshotter, const char *name,
                       struct arena *arena, struct err *err);

/* Returns the configuration of an image, which the caller frees; NULL if it has none. */
struct json_doc *ctr_image_config(const struct ctr_space *space, const char *image);

/* ---- the pure parts ---- */

/* Splits a table of ctr, of which the first line has titles, and visits its lines. Changes it. */
int ctr_read_table(char *text, ctr_visit *visit, void *ctx, struct err *err) must_check;

/* Returns the options in "mount -t overlay overlay / -o OPTIONS", or NULL. Changes the text. */
char *ctr_read_mount(char *text);

/* Returns the directories of the layers in such a line, or in that of a bind mount, or NULL. */
const char *ctr_read_layers(char *text);

#endif
