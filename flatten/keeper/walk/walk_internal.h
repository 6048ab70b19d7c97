/* The steps of walk.c, each in the source of its name. */
#ifndef FLATTEN_WALK_INTERNAL_H
#define FLATTEN_WALK_INTERNAL_H

#include "flatten/keeper/walk/walk.h"

/*
 * Leaves the mount namespace, mounts the layers over the store in the new one, and makes that mount
 * the root directory and the working directory. Layers that are walked apart are the directories
 * "1", "2" … in it, oldest first.
 */
int walk_mount(const struct walk_layers *layers, struct err *err) must_check;

/* Sends all entries below the directory `root` over the socket, but not the end of the walk. */
int walk_tree(int socket, const char *root, struct err *err) must_check;

/* Sends the working directory, as ".", and all entries below it. */
int walk_whole(int socket, struct err *err) must_check;

#endif
