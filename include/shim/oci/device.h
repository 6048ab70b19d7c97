/*
 * Devices of config.json: the nodes of linux.devices, and the rules of linux.resources.devices, by
 * which a container may also use nodes of its own. Pure.
 */
#ifndef SHIM_DEVICE_H
#define SHIM_DEVICE_H

#include "shim/oci/spec.h"

/* Returns the list of linux.devices, or NULL. */
struct json *device_nodes(const struct spec *spec);

/* Returns the list of linux.resources.devices, or NULL. */
struct json *device_rules(const struct spec *spec);

/* Returns "major" or "minor" of a node or rule; -1, which means any, if there is none, or null. */
int64_t device_part(const struct json *device, const char *key);

/* Returns true for a rule that gives devices, false for one that takes them away. */
bool device_rule_allows(const struct json *rule);

/*
 * Returns true for a rule on more than making nodes; one that takes devices away counts if it takes
 * both reading and writing.
 */
bool device_rule_counts(const struct json *rule);

#endif
