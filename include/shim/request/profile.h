/*
 * Which of the policy's profiles a container is under: the first whose criteria all hold. None is
 * no error; the policy itself counts then.
 *
 * Uncertainty never matches. Where nobody knows who a container belongs to, no uid criterion holds;
 * where that could not be found out (identity_find fails) the launch is denied, as soon as only
 * the uid would decide. So a policy should be strict by itself, and its profiles give more.
 *
 * "flatbed.profile" as an annotation criterion means what the container asks for, whoever carries
 * it. To ask is no way around a profile that comes before: the launch is denied then.
 */
#ifndef SHIM_PROFILE_H
#define SHIM_PROFILE_H

#include "shim/request/request.h"

extern const char profile_annotation[]; /* "flatbed.profile" */

struct profile_choice {
    const struct policy_profile *profile; /* or NULL */
    const char *problem_key, *problem;    /* why it cannot be decided or had, or NULL */
    bool undecided;                       /* nobody can tell: not even a pause container starts */
};

/* Looks up the identity only where a uid decides. Fails only without memory. */
int profile_choose(const struct policy *policy, const struct spec *spec,
                   const struct requests *requests, struct arena *arena, struct profile_choice *out,
                   struct err *err) must_check;

/* What the criteria but the uid's are held against. */
struct profile_subject {
    const char *image, *image_component, *namespace_name, *asked; /* or NULL */
    const struct spec *spec;
};

/* Pure. */
bool profile_matches(const struct policy_match *match, const struct profile_subject *subject);
bool profile_has_uid(const struct policy_match *match, uid_t uid);

#endif
