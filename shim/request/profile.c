#include "shim/request/profile.h"

#include "base/glob.h"
#include "shim/request/facts.h"
#include "shim/request/identity.h"

#include <string.h>

const char profile_annotation[] = "flatbed.profile";

/* ---- one profile ---- */

static bool is_one_of(const struct policy_list *globs, const char *text)
{
    for (size_t i = 0; text && i < globs->count; i++)
        if (glob_matches(globs->items[i], text))
            return true;
    return false;
}

static bool annotations_match(const struct policy_match *match,
                              const struct profile_subject *subject)
{
    for (size_t i = 0; i < match->annotation_count; i++) {
        const struct policy_annotation *a = &match->annotations[i];
        bool asked = strcmp(a->key, profile_annotation) == 0;
        if (!is_one_of(&a->values, asked ? subject->asked : spec_annotation(subject->spec, a->key)))
            return false;
    }
    return true;
}

bool profile_matches(const struct policy_match *match, const struct profile_subject *subject)
{
    if (match->image.given && !is_one_of(&match->image, subject->image) &&
        !is_one_of(&match->image, subject->image_component))
        return false;
    if (match->namespaces.given && !is_one_of(&match->namespaces, subject->namespace_name))
        return false;
    return annotations_match(match, subject);
}

bool profile_has_uid(const struct policy_match *match, uid_t uid)
{
    for (size_t i = 0; i < match->uid_count; i++)
        if (uid >= match->uids[i].first && uid <= match->uids[i].last)
            return true;
    return false;
}

/* Returns the globs of what may be asked for to get this profile, or NULL. */
static const struct policy_list *profile_offers(const struct policy_profile *profile)
{
    for (size_t i = 0; i < profile->match.annotation_count; i++)
        if (strcmp(profile->match.annotations[i].key, profile_annotation) == 0)
            return &profile->match.annotations[i].values;
    return NULL;
}

/* ---- all of them ---- */

struct choosing {
    const struct policy *policy;
    struct profile_subject subject;
    bool looked_up;
    struct id_pair identity;
    struct arena *arena;
    struct profile_choice *out;
    struct err *err;
};

static int set_problem(struct choosing *c, const char *key, const struct buf *text)
{
    c->out->problem_key = key;
    c->out->problem = text->failed ? NULL : arena_strndup(c->arena, text->data, text->len);
    return c->out->problem ? 0 : err_nomem(c->err);
}

/* Looks up the identity once. Returns 1 if it cannot be found out, which the choice then says. */
static int identity_look_up(struct choosing *c)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err why = ERR_INIT;

    if (c->looked_up)
        return 0;
    c->looked_up = true;
    if (identity_find(c->policy, c->subject.spec, &c->identity, &why) == 0)
        return 0;
    c->out->undecided = true;
    buf_printf(&text, "the profile depends on whose container it is: %s", why.msg);
    return set_problem(c, "profiles", &text) < 0 ? -1 : 1;
}

/* Returns 1 when the choice is made. */
static int try_profile(struct choosing *c, const struct policy_profile *profile)
{
    if (!profile_matches(&profile->match, &c->subject))
        return 0;
    if (profile->match.uid_count) {
        int rc = identity_look_up(c);
        if (rc)
            return rc;
        if (!c->identity.known || !profile_has_uid(&profile->match, c->identity.uid))
            return 0;
    }
    c->out->profile = profile;
    return 1;
}

/* Returns true if a profile before that one offers the same name or glob. */
static bool was_offered(const struct policy *policy, size_t before, const char *name)
{
    for (size_t i = 0; i < before; i++) {
        const struct policy_list *list = profile_offers(&policy->profiles[i]);
        for (size_t j = 0; list && j < list->count; j++)
            if (strcmp(list->items[j], name) == 0)
                return true;
    }
    return false;
}

static bool is_offered(const struct policy *policy, const char *name, struct buf *all)
{
    bool found = false;

    for (size_t i = 0; i < policy->profile_count; i++) {
        const struct policy_list *list = profile_offers(&policy->profiles[i]);
        found = found || (list && is_one_of(list, name));
        for (size_t j = 0; list && j < list->count; j++)
            if (!was_offered(policy, i, list->items[j]))
                buf_printf(all, "%s%s", all->len ? ", " : "", list->items[j]);
    }
    return found;
}

/* Refuses a request for a profile that was not chosen. */
static int check_asked(struct choosing *c, const struct requests *requests)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    _cleanup_buf_ struct buf offered = BUF_INIT;
    const struct policy_profile *profile = c->out->profile;

    if (!requests->profile || c->out->problem || (profile && profile_offers(profile)))
        return 0;
    if (!is_offered(c->policy, requests->profile, &offered))
        buf_printf(&text, "the profile '%.80s' cannot be requested here; those that can: %s",
                   requests->profile, offered.len ? offered.data : "none");
    else if (profile)
        buf_printf(&text, "the profile '%.80s' is not to be had: '%s' comes first",
                   requests->profile, profile->name);
    else
        buf_printf(&text,
                   "the profile '%.80s' is not for this container: its image, user, "
                   "namespace or annotations do not match",
                   requests->profile);
    return set_problem(c, requests->profile_key, &text);
}

int profile_choose(const struct policy *policy, const struct spec *spec,
                   const struct requests *requests, struct arena *arena, struct profile_choice *out,
                   struct err *err)
{
    struct choosing c = {.policy = policy, .arena = arena, .out = out, .err = err};
    int rc = 0;

    *out = (struct profile_choice){0};
    c.subject = (struct profile_subject){.spec = spec, .asked = requests->profile};
    if (policy->profile_count) {
        c.subject.image = facts_image(spec);
        c.subject.namespace_name = facts_namespace(spec);
        if (c.subject.image &&
            !(c.subject.image_component = facts_image_component(c.subject.image, arena)))
            return err_nomem(err);
    }
    for (size_t i = 0; rc == 0 && i < policy->profile_count; i++)
        rc = try_profile(&c, &policy->profiles[i]);
    return rc < 0 ? -1 : check_asked(&c, requests);
}
