/* From the policy's files to struct policy: opened safely, decoded, every unknown key an error. */
#ifndef SHIM_POLICY_READ_H
#define SHIM_POLICY_READ_H

#include "shim/policy/policy.h"

/*
 * Reads the files and, from each, the keys that must be known even if others are wrong: version,
 * mode and runtime. `path` NULL is the default one, which may be missing: then nothing is enforced.
 * More files are in the directory "NAME.d" beside it ("policy.json": "policy.d"). After an error
 * `mode` is POLICY_ENFORCE, and the runtime is the one read before the error.
 */
int policy_open(struct policy *policy, const char *path, struct err *err) must_check;

/*
 * Adds a document as if it were a file, for policy_open and for tests. Owns `doc` from then on,
 * also after a failure.
 */
int policy_add(struct policy *policy, const char *path, struct json_doc *doc,
               struct err *err) must_check;

/*
 * Reads all other keys and checks the whole, every profile included. After an error `audit` is as
 * far as it was read, or the default.
 */
int policy_decode(struct policy *policy, struct err *err) must_check;

#endif
