/*
 * Sources of volumes in a registry: oci://HOST[:PORT]/REPOSITORY[:TAG|@DIGEST], after
 * distribution/reference. The host is written out, so that no name can lead to another registry;
 * a missing tag means "latest". Pure.
 */
#ifndef SHIM_REGISTRY_SOURCE_H
#define SHIM_REGISTRY_SOURCE_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>

#define REGISTRY_SOURCE "oci://"

/* Returns true for a source, or the template of one, that is in a registry. */
bool registry_source_is(const char *text);

/* Checks a source. ERR_POLICY says which part is wrong. */
int registry_source_check(const char *source, struct err *err) must_check;

/*
 * Checks the template of a source (template.h), whose variables may be anywhere but in the host and
 * in a digest. ERR_POLICY.
 */
int registry_source_check_template(const char *text, struct err *err) must_check;

/* Returns true for a source that names a digest, and so is always the same. */
bool registry_source_is_fixed(const char *source);

/* Returns true for a source, or a template, whose registry is on this host. */
bool registry_source_is_local(const char *text);

#endif
