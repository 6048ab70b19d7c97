/*
 * What `flatbed check` has to say of a policy, each with its place. Errors fail every launch, or
 * each of some kind; warnings are most likely not what was meant; notes are good to know.
 */
#ifndef SHIM_FINDINGS_H
#define SHIM_FINDINGS_H

#include "shim/policy/policy.h"

enum finding_level { FINDING_NOTE, FINDING_WARNING, FINDING_ERROR, FINDING_LEVELS };

struct finding {
    enum finding_level level;
    const char *rule;      /* a short name, such as "bind-twice"; static */
    const char *file;      /* NULL: of no place */
    unsigned line, column; /* from 1; 0: the whole file */
    const char *message;   /* one sentence, no full stop */
};

struct findings {
    struct arena arena; /* owns the texts */
    struct finding *list;
    size_t count, cap;
    bool failed; /* no memory: some are missing */
};

extern const char *const finding_level_names[FINDING_LEVELS];

/* `place` may be NULL, or a built-in rule's. */
void findings_add(struct findings *f, enum finding_level level, const char *rule,
                  const struct policy_place *place, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The error that loading a policy came to: "FILE:LINE:COLUMN: reason" is taken apart. */
void findings_add_error(struct findings *f, const struct err *err);

size_t findings_count(const struct findings *f, enum finding_level level);

/* Appends one for a person, with the line of the file that it is about. Reads that file. */
void finding_print(const struct finding *finding, bool colour, struct buf *out);

/* The same as an object of `doc` (failures are the document's: json_failed). */
struct json *finding_json(const struct finding *finding, struct json_doc *doc);

void findings_free(struct findings *f);

#define _cleanup_findings_ _cleanup_(findings_free)

#endif
