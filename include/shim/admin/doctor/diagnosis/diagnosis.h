/*
 * The findings of `flatbed doctor` about this host, a diagnosis for each thing that was looked at:
 * also for what is in order, so that the list tells what was seen.
 */
#ifndef SHIM_DIAGNOSIS_H
#define SHIM_DIAGNOSIS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json/json.h"

/*
 * In order; worth changing where it is easy; costs time, room or trust; containers fail, or will.
 */
enum diagnosis_level {
    DIAGNOSIS_OK,
    DIAGNOSIS_ADVICE,
    DIAGNOSIS_WARNING,
    DIAGNOSIS_ERROR,
    DIAGNOSIS_LEVELS
};

struct diagnosis {
    enum diagnosis_level level;
    const char *id;      /* "store-room"; static */
    const char *subject; /* a path, a program, an engine; all texts may come from the host */
    const char *seen;    /* one sentence, no full stop */
    const char *cost;    /* the same, or NULL */
    const char *mend;    /* the command or setting that mends it, or NULL */
};

enum { DIAGNOSES_FILTER_MOST = 64, DIAGNOSES_HANGING_MOST = 64 };

struct diagnoses {
    struct arena arena; /* owns the texts */
    struct diagnosis *list;
    size_t count;
    bool failed;              /* out of memory: some are missing */
    struct diagnosis dropped; /* of an ID that is left out */

    bool silent;     /* set before: no warnings on standard error meanwhile */
    unsigned waited; /* milliseconds, for paths that did not answer: */
    const char *hanging[DIAGNOSES_HANGING_MOST];
    size_t hanging_count;

    const char *only[DIAGNOSES_FILTER_MOST]; /* IDs; none: all */
    size_t only_count;
    const char *ignored[DIAGNOSES_FILTER_MOST];
    size_t ignored_count;
};

extern const char *const diagnosis_level_names[DIAGNOSIS_LEVELS];

/* Returns true if the IDs that are wanted have this one. What is costly to find out asks first. */
bool diagnoses_want(const struct diagnoses *d, const char *id);

/*
 * Adds a diagnosis. Returns it, for diagnosis_cost and diagnosis_mend; it is valid until the next
 * one is added.
 */
struct diagnosis *diagnoses_add(struct diagnoses *d, enum diagnosis_level level, const char *id,
                                const char *subject, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Says what it costs here. */
void diagnosis_cost(struct diagnoses *d, struct diagnosis *of, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Says what mends it. */
void diagnosis_mend(struct diagnoses *d, struct diagnosis *of, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns how many there are of that level. */
size_t diagnoses_count(const struct diagnoses *d, enum diagnosis_level level);

/* Appends the list for people, the worst last; `terminal`: its columns, 0 for none. */
void diagnoses_print(const struct diagnoses *d, bool colour, size_t terminal, struct buf *out);

/* Appends an object with the list and the counts. */
int diagnoses_json(const struct diagnoses *d, struct buf *out, struct err *err) must_check;

/* Appends a page of HTML, the worst first. */
void diagnoses_html(const struct diagnoses *d, struct buf *out);

/* Frees the texts and the list. */
void diagnoses_free(struct diagnoses *d);

#define _cleanup_diagnoses_ _cleanup_(diagnoses_free)

#endif
