#include "shim/admin/doctor/diagnosis/diagnosis.h"

#include "base/cli/columns.h"

#include <string.h>

const char *const diagnosis_level_names[DIAGNOSIS_LEVELS] = {"ok", "advice", "warning", "error"};

static bool has(const char *const *list, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], id) == 0)
            return true;
    return false;
}

bool diagnoses_want(const struct diagnoses *d, const char *id)
{
    return (d->only_count == 0 || has(d->only, d->only_count, id)) &&
           !has(d->ignored, d->ignored_count, id);
}

static struct diagnosis *push(struct diagnoses *d)
{
    struct diagnosis *list = arena_extend(&d->arena, d->list, d->count, sizeof(*list));

    if (!list) {
        d->failed = true;
        return &d->dropped;
    }
    d->list = list;
    return &list[d->count++];
}

__attribute__((format(printf, 2, 0))) static const char *keep(struct diagnoses *d,
                                                              const char *format, va_list args)
{
    const char *text = arena_vprintf(&d->arena, format, args);

    d->failed = d->failed || !text;
    return text ? text : "";
}

struct diagnosis *diagnoses_add(struct diagnoses *d, enum diagnosis_level level, const char *id,
                                const char *subject, const char *format, ...)
{
    struct diagnosis *of = diagnoses_want(d, id) ? push(d) : &d->dropped;
    va_list args;

    *of = (struct diagnosis){.level = level, .id = id};
    of->subject = arena_strndup(&d->arena, subject, strlen(subject));
    if (!of->subject) {
        d->failed = true;
        of->subject = "";
    }
    va_start(args, format);
    of->seen = keep(d, format, args);
    va_end(args);
    return of;
}

void diagnosis_cost(struct diagnoses *d, struct diagnosis *of, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    of->cost = keep(d, format, args);
    va_end(args);
}

void diagnosis_mend(struct diagnoses *d, struct diagnosis *of, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    of->mend = keep(d, format, args);
    va_end(args);
}

size_t diagnoses_count(const struct diagnoses *d, enum diagnosis_level level)
{
    size_t count = 0;

    for (size_t i = 0; i < d->count; i++)
        count += d->list[i].level == level;
    return count;
}

/* ---- for people ---- */

/* Appends a line that begins with a word of its own. */
static void put_line(const char *word, const char *text, size_t terminal, struct buf *out)
{
    static const char margin[] = "    ";
    size_t column = strlen(margin) + strlen(word) + 2;

    buf_printf(out, "%s%s: ", margin, word);
    columns_fold(text, column, terminal, out);
    buf_putc(out, '\n');
}

static void print_one(const struct diagnosis *of, bool colour, size_t terminal, struct buf *out)
{
    static const char *const colours[DIAGNOSIS_LEVELS] = {"32", "36", "33", "31"};
    const char *level = diagnosis_level_names[of->level];
    _cleanup_free_ char *text = strf("%s: %s [%s]", of->subject, of->seen, of->id);

    if (colour)
        buf_printf(out, "\033[%sm%s\033[0m", colours[of->level], level);
    else
        buf_puts(out, level);
    buf_printf(out, "%*s", (int)(9 - strlen(level)), "");
    columns_fold(text ? text : "", 9, terminal, out);
    buf_putc(out, '\n');
    if (of->cost)
        put_line("costs", of->cost, terminal, out);
    if (of->mend)
        put_line("mend", of->mend, terminal, out);
}

void diagnoses_print(const struct diagnoses *d, bool colour, size_t terminal, struct buf *out)
{
    for (int level = 0; level < DIAGNOSIS_LEVELS; level++)
        for (size_t i = 0; i < d->count; i++)
            if ((int)d->list[i].level == level)
                print_one(&d->list[i], colour, terminal, out);
    size_t warnings = diagnoses_count(d, DIAGNOSIS_WARNING);
    size_t errors = diagnoses_count(d, DIAGNOSIS_ERROR);
    buf_printf(out, "%zu in order, %zu to consider, %zu warning%s, %zu error%s\n",
               diagnoses_count(d, DIAGNOSIS_OK), diagnoses_count(d, DIAGNOSIS_ADVICE), warnings,
               warnings == 1 ? "" : "s", errors, errors == 1 ? "" : "s");
}

/* ---- for programs ---- */

static void put_text(struct json_doc *doc, struct json *object, const char *key, const char *text)
{
    if (text)
        json_set(doc, object, key, json_string(doc, text));
}

static struct json *one_json(const struct diagnosis *of, struct json_doc *doc)
{
    struct json *object = json_object(doc);

    put_text(doc, object, "level", diagnosis_level_names[of->level]);
    put_text(doc, object, "id", of->id);
    put_text(doc, object, "subject", of->subject);
    put_text(doc, object, "seen", of->seen);
    put_text(doc, object, "cost", of->cost);
    put_text(doc, object, "mend", of->mend);
    return object;
}

int diagnoses_json(const struct diagnoses *d, struct buf *out, struct err *err)
{
    static const char *const counts[DIAGNOSIS_LEVELS] = {"ok", "advice", "warnings", "errors"};
    _cleanup_json_ struct json_doc *doc = json_new_object(err);

    if (!doc)
        return -1;
    struct json *list = json_set(doc, json_root(doc), "diagnoses", json_array(doc));
    for (size_t i = 0; i < d->count; i++)
        json_append(doc, list, one_json(&d->list[i], doc));
    for (int level = 0; level < DIAGNOSIS_LEVELS; level++)
        json_set(doc, json_root(doc), counts[level],
                 json_number(doc, diagnoses_count(d, (enum diagnosis_level)level)));
    if (json_write(doc, out, err) < 0)
        return -1;
    buf_putc(out, '\n');
    return buf_check(out, err);
}

void diagnoses_free(struct diagnoses *d)
{
    arena_free(&d->arena);
    d->list = NULL;
    d->count = 0;
}
