/*
 * What a policy makes of a container, told without doing any of it: the judgement of judge.h, and
 * what the sources of its volumes would come to. What the runtime behind us can do is not asked.
 */
#ifndef SHIM_EXPLAIN_H
#define SHIM_EXPLAIN_H

#include "shim/plan/describe.h"
#include "shim/plan/judge.h"
#include "shim/request/identity.h"

struct explanation {
    const struct policy *policy; /* with the overrides of the profile that matches */
    const char *id, *config;
    struct spec spec;
    struct judgement judgement;
    struct decision decision; /* what would come of it */
    struct id_pair owner;     /* who the container belongs to */
    const char *owner_name;   /* or NULL */
    bool judged;              /* false: there is no policy, or it is off */
    bool refused;             /* it could not start */
    struct description *ops;
    size_t op_count;
};

/*
 * `doc` is the container's config.json, `bundle` the open folder that it is in. Everything is in
 * the arena or borrowed; the explanation may not be moved.
 */
int explain_container(const struct policy *policy, struct json_doc *doc, int bundle, const char *id,
                      const char *config, struct arena *arena, struct explanation *out,
                      struct err *err) must_check;

/* Appends it for a person: coloured, or folded to a terminal's width, where that is asked for. */
int explain_print(const struct explanation *e, bool colour, size_t terminal, struct buf *out,
                  struct err *err) must_check;

/* The same as one object of JSON and a newline. */
int explain_json(const struct explanation *e, struct buf *out, struct err *err) must_check;

#endif
