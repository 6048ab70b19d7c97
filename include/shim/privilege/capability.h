/*
 * Capabilities (capabilities(7)): names as libcap knows them, and the five lists of
 * process.capabilities (runtime-spec, config.md#linux-process). Pure.
 */
#ifndef SHIM_CAPABILITY_H
#define SHIM_CAPABILITY_H

#include "base/buf.h"
#include "base/json/json.h"

#include <stdint.h>

/* The bit of "CAP_CHOWN", "chown" or "CHOWN"; 0 for a name that libcap does not know. */
uint64_t capability_bit(const char *name);

/* The bits of a list of a process: "bounding", "effective" … */
uint64_t capability_list(const struct json *process, const char *list);

/* Takes all but `kept` out of the five lists, and names that libcap does not know. */
void capability_keep(const struct json *process, uint64_t kept);

/* Appends the names that it would take out, each once, between spaces. */
void capability_beyond(const struct json *process, uint64_t kept, struct buf *out);

#endif
