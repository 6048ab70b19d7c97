/*
 * Counts a tree and hashes the attributes of all that is in it. Two surveys with the same manifest
 * saw the same tree: each change of a file sets its ctime.
 */
#ifndef SHIM_STAGE_SURVEY_H
#define SHIM_STAGE_SURVEY_H

#include "shim/stage/cache/stage_cache.h"
#include "shim/stage/copy/tree_walk.h"

#include <pthread.h>

/* Totals that several threads add to. */
struct survey {
    pthread_mutex_t mutex;
    struct stage_totals totals;
};

/* Starts with nothing counted. */
void survey_begin(struct survey *survey);
/* Sets *out to the totals. The survey is used up. */
void survey_end(struct survey *survey, struct stage_totals *out);

/* Adds one file or directory. */
void survey_add(struct survey *survey, const char *path, const struct statx *st);

/* Surveys the tree beneath `top` (tree_walk). */
int survey_tree(int top, const struct user_ids *user, struct stage_totals *out, struct err *err)
    __attribute__((warn_unused_result));

/* Returns true if both are of the same tree. */
bool survey_equal(const struct stage_totals *a, const struct stage_totals *b);

#endif
