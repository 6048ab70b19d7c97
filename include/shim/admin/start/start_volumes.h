/* The volumes for caches that the command start-time mounts: of --volume, and of the policy. */
#ifndef SHIM_START_VOLUMES_H
#define SHIM_START_VOLUMES_H

#include "base/cli/program.h"
#include "shim/admin/start/start.h"

struct start_volumes {
    struct start_volume list[OPTION_LIST_MOST];
    size_t count;
};

/* Adds "SOURCE:TARGET[:ro|:rw]", read-only unless it says rw. ERR_USAGE. */
int start_volumes_add(const char *text, struct arena *arena, struct start_volumes *out,
                      struct err *err) must_check;

/*
 * Adds the caches of presets in the policy whose directories exist, read-only, for the user who
 * called sudo, or root. A policy that does not load is a warning.
 */
int start_volumes_add_presets(const char *policy_path, struct arena *arena,
                              struct start_volumes *out, struct err *err) must_check;

#endif
