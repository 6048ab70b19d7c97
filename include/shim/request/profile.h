/*
 * The profile of the policy that a container is under: the first whose criteria all hold. If none
 * does, the policy itself counts.
 *
 * Uncertainty never matches. If the owner of a container is not known, no uid criterion holds; if
 * the owner could not be found out (identity_find fails), the launch is denied as soon as only the
 * uid would decide. So a policy should be strict by itself, and its profiles give more.
 *
 * "flatbed.profile" as an annotation criterion means what the container asks for, in any carrier.
 * To ask is no way around an earlier profile: the launch is denied then.
 */
#ifndef SHIM_PROFILE_H
#define SHIM_PROFILE_H

#include "shim/request/request.h"

extern const char profile_annotation[]; /* "flatbed.profile" */

struct profile_choice {
    const struct policy_profile *profile; /* or NULL */
    const char *problem_key, *problem;    /* why it cannot be decided or had, or NULL */
    bool undecided; /* the owner could not be found out: not even a pause container starts */
};

/* Chooses the profile. Looks up the owner only if a uid decides. Fails only without memory. */
int profile_choose(const struct policy *policy, const struct spec *spec,
                   const struct requests *requests, struct arena *arena, struct profile_choice *out,
                   struct err *err) must_check;

/* Everything that criteria are compared with, but the uid. */
struct profile_subject {
    const char *image, *image_component, *namespace_name, *asked; /* or NULL */
    const struct spec *spec;
};

/* Returns true if the criteria but the uid's all hold. Pure. */
bool profile_matches(const struct policy_match *match, const struct profile_subject *subject);

/* Returns true if the uid is in a range of the criteria. Pure. */
bool profile_has_uid(const struct policy_match *match, uid_t uid);

#endif
