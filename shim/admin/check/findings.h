/*
 * The findings of `flatbed check`, each with its place. Errors fail every launch, or every launch
 * of some kind; warnings are most likely mistakes; notes are good to know.
 */
#ifndef SHIM_FINDINGS_H
#define SHIM_FINDINGS_H

#include "shim/policy/policy.h"

enum finding_level { FINDING_NOTE, FINDING_WARNING, FINDING_ERROR, FINDING_LEVELS };

struct finding {
    enum finding_level level;
    const char *rule;      /* a short name, such as "bind-twice"; static */
    const char *file;      /* NULL: no place */
    unsigned line, column; /* from 1; 0: the whole file */
    const char *message;   /* one sentence, no full stop */
};

struct findings {
    struct arena arena; /* owns the texts */
    struct finding *list;
    size_t count, cap;
    bool failed;       /* out of memory: some are missing */
    unsigned patience; /* milliseconds for a source that does not answer; 0: as its volume says */
};

extern const char *const finding_level_names[FINDING_LEVELS];

/* Adds a finding. `place` may be NULL, or that of a built-in rule. */
void findings_add(struct findings *f, enum finding_level level, const char *rule,
                  const struct policy_place *place, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Adds a finding about a file that does not belong to the policy. */
void findings_add_file(struct findings *f, enum finding_level level, const char *rule,
                       const char *file, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Adds the error from loading a policy: "FILE:LINE:COLUMN: reason" is taken apart. */
void findings_add_error(struct findings *f, const struct err *err);

/* Returns how many findings of that level there are. */
size_t findings_count(const struct findings *f, enum finding_level level);

/* Appends a finding as text, with the line of the file that it is about. Reads that file. */
void finding_print(const struct finding *finding, bool colour, struct buf *out);

/* Returns a finding as an object of `doc` (failures are the document's: json_failed). */
struct json *finding_json(const struct finding *finding, struct json_doc *doc);

/* Frees all findings. */
void findings_free(struct findings *f);

#define _cleanup_findings_ _cleanup_(findings_free)

#endif
