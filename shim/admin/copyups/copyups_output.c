#include "shim/admin/copyups/copyups_output.h"

#include "base/cli/columns.h"
#include "base/cli/log.h"
#include "base/cli/program.h"
#include "base/human.h"
#include "base/ranking.h"
#include "shim/admin/copyups/growth.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>

enum { NAME_SHOWN = 100, PATH_SHOWN = 200 };

/* ---- the page ---- */

static int begin_page(struct copyups_output *o, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    copyups_html_begin(&out);
    return page_file_begin(&o->page, o->html, err) < 0 ? -1 : page_file_write(&o->page, &out, err);
}

static int add_to_page(struct copyups_output *o, const struct copyups_report *report,
                       struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    return copyups_html(report, &out, err) < 0 ? -1 : page_file_write(&o->page, &out, err);
}

static int end_page(struct copyups_output *o, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    copyups_html_end(&out);
    return page_file_write(&o->page, &out, err) < 0 ? -1 : page_file_commit(&o->page, err);
}

int copyups_output_begin(struct copyups_output *o, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    if (o->html && begin_page(o, err) < 0)
        return -1;
    if (o->json) {
        o->skipped = json_new_object(err);
        if (!o->skipped)
            return -1;
        o->skips = json_set(o->skipped, json_root(o->skipped), "skipped", json_array(o->skipped));
        buf_puts(&out, "{\"containers\":[");
    }
    return program_print(&out, err);
}

void copyups_output_skip(struct copyups_output *o, const char *engine, const char *name,
                         const char *why)
{
    if (o->again)
        return;
    if (!o->json) {
        log_warning("%s %s: left out: %s", engine, name, why);
        return;
    }
    struct json *one = json_append(o->skipped, o->skips, json_object(o->skipped));
    json_set(o->skipped, one, "engine", json_string(o->skipped, engine));
    json_set(o->skipped, one, "name", json_string(o->skipped, name));
    json_set(o->skipped, one, "why", json_string(o->skipped, why));
}

static uint64_t weight_of_total(const void *item)
{
    return ((const struct copyups_total *)item)->bytes;
}

/* ---- what changed ---- */

static struct copyups_past *find_past(struct copyups_output *o, const char *id)
{
    for (size_t i = 0; i < o->past_count; i++)
        if (strcmp(o->past[i].id, id) == 0)
            return &o->past[i];
    return NULL;
}

/* Prints a line for a container that changed: what it has, what is new, and where. */
static int print_change(const struct copyups_past *past, const struct copyups_report *report,
                        struct err *err)
{
    static const struct tally nothing;
    _cleanup_buf_ struct buf out = BUF_INIT;
    const struct tally *now = report->tally, *before = past ? &past->tally : &nothing;
    char size[HUMAN_SIZE], change[HUMAN_SIZE], clock[16] = "";
    bool more = now->disk >= before->disk;
    time_t seconds = time(NULL);
    struct tm local;
    uint64_t by;

    if (past && now->disk == before->disk)
        return 0;
    if (localtime_r(&seconds, &local))
        strftime(clock, sizeof(clock), "%H:%M:%S", &local);
    const struct tally_directory *grown = growth_find(before, now, &by);
    buf_printf(&out, "%s  %10s  %c%-10s  ", clock, human_size(now->disk, size), more ? '+' : '-',
               human_size(more ? now->disk - before->disk : before->disk - now->disk, change));
    human_put_short(&out, report->container->name, NAME_SHOWN);
    if (past && grown) {
        buf_printf(&out, "  +%s in ", human_size(by, change));
        human_put_short(&out, grown->path, PATH_SHOWN);
    }
    buf_putc(&out, '\n');
    return program_print(&out, err);
}

/* Prints what changed of a container, and keeps its tally, which the caller no longer has. */
static int watch_one(struct copyups_output *o, const struct copyups_report *report,
                     struct tally *tally, struct err *err)
{
    struct copyups_past *past = find_past(o, report->container->id);

    if (print_change(past, report, err) < 0)
        return -1;
    if (!past) {
        struct copyups_past *grown = reallocarray(o->past, o->past_count + 1, sizeof(*grown));
        char *id = strdup(report->container->id);
        if (grown)
            o->past = grown;
        if (!grown || !id) {
            free(id);
            return err_nomem(err);
        }
        past = &grown[o->past_count++];
        *past = (struct copyups_past){.id = id};
    }
    tally_free(&past->tally);
    past->tally = *tally;
    *tally = (struct tally){0};
    past->here = true;
    return 0;
}

/* Forgets the containers that are gone. */
static void forget_past(struct copyups_output *o, bool all)
{
    size_t kept = 0;

    for (size_t i = 0; i < o->past_count; i++) {
        struct copyups_past *past = &o->past[i];
        if (past->here && !all) {
            past->here = false;
            o->past[kept++] = *past;
            continue;
        }
        free(past->id);
        tally_free(&past->tally);
    }
    o->past_count = kept;
}

/* ---- all of it ---- */

static int print_one(struct copyups_output *o, const struct copyups_report *report, struct err *err)
{
    const struct copyups_total total = {report->container->name, report->tally->disk};
    _cleanup_buf_ struct buf out = BUF_INIT;

    o->bytes += total.bytes;
    ranking_offer(o->totals, &o->total_count, COPYUPS_TOTALS, sizeof(total), &total,
                  weight_of_total);
    if (o->printed++)
        buf_puts(&out, o->json ? ",\n" : "\n");
    if (o->html && add_to_page(o, report, err) < 0)
        return -1;
    if ((o->json ? copyups_json(report, &out, err)
                 : copyups_print(report, columns_colour(STDOUT_FILENO),
                                 columns_of_terminal(STDOUT_FILENO), &out, err)) < 0)
        return -1;
    return program_print(&out, err);
}

int copyups_output_add(struct copyups_output *o, const struct copyups_report *report,
                       struct tally *tally, struct err *err)
{
    return o->watch ? watch_one(o, report, tally, err) : print_one(o, report, err);
}

int copyups_output_end(struct copyups_output *o, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    char size[HUMAN_SIZE];

    if (o->watch) {
        forget_past(o, false);
        o->again = true;
        return 0;
    }
    if (o->html && end_page(o, err) < 0)
        return -1;
    if (o->json) {
        _cleanup_buf_ struct buf skipped = BUF_INIT;
        if (json_write(o->skipped, &skipped, err) < 0 || buf_check(&skipped, err) < 0)
            return -1;
        buf_printf(&out, "],%s\n", skipped.data + 1); /* without its brace */
        return program_print(&out, err);
    }
    if (o->printed == 0)
        buf_puts(&out, "no container was found\n");
    if (o->printed > 1) {
        buf_printf(&out, "\n%zu containers: %s in their upper directories\n", o->printed,
                   human_size(o->bytes, size));
        for (size_t i = 0; i < o->total_count; i++) {
            buf_printf(&out, "%10s  ", human_size(o->totals[i].bytes, size));
            human_put_short(&out, o->totals[i].name, 100);
            buf_putc(&out, '\n');
        }
    }
    return program_print(&out, err);
}

void copyups_output_free(struct copyups_output *o)
{
    forget_past(o, true);
    free(o->past);
    cleanup_json_doc(&o->skipped);
    page_file_free(&o->page);
}
