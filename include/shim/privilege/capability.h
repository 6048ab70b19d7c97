/*
 * Capabilities (capabilities(7)): names as libcap knows them, and the five lists of
 * process.capabilities (runtime-spec, config.md#linux-process). Pure.
 */
#ifndef SHIM_CAPABILITY_H
#define SHIM_CAPABILITY_H

#include "base/buf.h"
#include "base/json/json.h"

#include <stdint.h>

/* Returns the bit of "CAP_CHOWN", "chown", "CHOWN" or "0"; 0 for a name that libcap does not know.
 */
uint64_t capability_bit(const char *name);

/* Returns the bits of a list of a process: "bounding", "effective" … */
uint64_t capability_list(const struct json *process, const char *list);

/* Removes all capabilities but `kept`, and names that libcap does not know, from the five lists. */
void capability_keep(const struct json *process, uint64_t kept);

/* Appends the names that capability_keep would remove, each once, separated by spaces. */
void capability_beyond(const struct json *process, uint64_t kept, struct buf *out);

#endif
