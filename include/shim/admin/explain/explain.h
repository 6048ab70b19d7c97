/*
 * Says what a policy makes of a container, and does none of it: the judgement of judge.h, and
 * whether the sources of its volumes can be used. The low-level runtime is not asked what it can
 * do.
 */
#ifndef SHIM_EXPLAIN_H
#define SHIM_EXPLAIN_H

#include "shim/plan/decision/describe.h"
#include "shim/plan/judge.h"
#include "shim/request/identity.h"

struct explanation {
    const struct policy *policy; /* with the overrides of the profile that matches */
    const char *id, *config;
    struct spec spec;
    struct judgement judgement;
    struct decision decision; /* the plan and its outcomes */
    struct id_pair owner;     /* of the container */
    const char *owner_name;   /* or NULL */
    bool judged;              /* false: there is no policy, or it is off */
    bool refused;             /* it would not start */
    struct description *ops;
    size_t op_count;
};

/*
 * Judges one container. `doc` is its config.json, `bundle` the open directory that holds it. The
 * explanation borrows all arguments and the arena, and must not be moved.
 */
int explain_container(const struct policy *policy, struct json_doc *doc, int bundle, const char *id,
                      const char *config, struct arena *arena, struct explanation *out,
                      struct err *err) must_check;

/*
 * Appends the explanation as text; `colour` with escape sequences; `terminal` is the width in
 * columns to fold to, or 0.
 */
int explain_print(const struct explanation *e, bool colour, size_t terminal, struct buf *out,
                  struct err *err) must_check;

/* The same as one object of JSON and a newline. */
int explain_json(const struct explanation *e, struct buf *out, struct err *err) must_check;

#endif
