/*
 * Fetches what a source in a registry (registry_source.h) has into the cache: an image, or an
 * artefact whose layers are tar archives.
 *
 * The registry is asked for the digest that the source has now. If the cache has just that, nothing
 * is fetched. Else it is fetched by this digest, unpacked, and takes the place of the older one,
 * which stays for the containers that have it. Root's credentials are used, and the entry is for
 * all: the policy grants it.
 */
#ifndef SHIM_STAGE_FETCH_H
#define SHIM_STAGE_FETCH_H

#include "shim/stage/copy/stage_copy.h"

/*
 * Fetches the source. ERR_LIMIT: there is no room, or another process fetches it (then *busy is
 * set). All other failures are kept in the cache for a minute (STAGE_FAILED). Texts are in the
 * arena.
 */
int stage_fetch(const struct stage_cache *cache, const char *source,
                const struct policy_stage *rules, struct arena *arena,
                struct stage_copy_result *out, bool *busy, struct err *err) must_check;

#endif
