#include "flatten/command/squash/carve_print.h"
#include "flatten/command/squash/carve_pull.h"
#include "flatten/command/squash/family_print.h"
#include "flatten/command/squash/squash_family.h"

#include "base/cli/log.h"
#include "base/cli/program.h"
#include "base/human.h"
#include "flatten/image/history.h"

#include <inttypes.h>
#include <string.h>

/* ---- JSON ---- */

static void put_layer(const struct written_layer *layer, struct buf *out)
{
    buf_printf(out, "{\"digest\":\"%s\",\"diff_id\":\"%s\",\"size\":%" PRIu64 "}",
               layer->digest.text, layer->diff_id.text, layer->size);
}

/* Appends the new layers, oldest first; then the newest by itself, which is often the only one. */
static void put_made(const struct squashed *s, struct buf *out)
{
    buf_puts(out, ",\"made\":[");
    for (size_t i = s->kept; i < s->count; i++) {
        if (i > s->kept)
            buf_putc(out, ',');
        put_layer(&s->layers[i], out);
    }
    buf_puts(out, "],\"layer\":");
    if (s->count > s->kept)
        put_layer(&s->layers[s->count - 1], out);
    else
        buf_puts(out, "null");
}

/* Appends the source's layers, and whether each is kept or merged. */
static void put_plan(const struct squash_job *job, struct buf *out)
{
    buf_puts(out, ",\"plan\":[");
    for (size_t i = 0; i < job->image->layer_count; i++) {
        const struct layer *layer = &job->image->layers[i];
        buf_printf(out,
                   "%s{\"layer\":%u,\"action\":\"%s\",\"diff_id\":\"%s\",\"size\":%" PRIu64 "}",
                   i ? "," : "", layer->number, i < job->squashed.kept ? "keep" : "merge",
                   layer->diff_id.text, layer->size);
    }
    buf_putc(out, ']');
}

/* Appends the image's name at a destination that keeps names. Returns false if it has none. */
static bool put_called(const struct squash_run *run, const struct squash_entry *entry,
                       struct buf *out)
{
    const char *name = squash_entry_name(run, entry);

    if (run->command->family)
        return squash_family_put_name(run, entry, out);
    if (name)
        buf_printf(out, "%s%s", name, reference_is_engine(run->to) ? "-flat" : "");
    return name;
}

/* Appends the member "name", with --all-images. */
static void put_name(const struct squash_run *run, const struct squash_entry *entry,
                     struct buf *out)
{
    _cleanup_buf_ struct buf name = BUF_INIT;

    if (!squash_has_several(run))
        return;
    buf_puts(out, "\"name\":");
    if (put_called(run, entry, &name) && name.data)
        json_quote(out, name.data, name.len);
    else
        buf_puts(out, "null");
    buf_putc(out, ',');
}

/* `entry`: the job's, if that has no other; else NULL. */
static void put_job(const struct squash_run *run, const struct squash_job *job,
                    const struct squash_entry *entry, struct buf *out)
{
    const struct squashed *s = &job->squashed;
    const struct merged_report *r = &s->report;

    buf_putc(out, '{');
    if (entry)
        put_name(run, entry, out);
    if (job->platform) {
        buf_puts(out, "\"platform\":");
        json_quote(out, job->platform, strlen(job->platform));
        buf_putc(out, ',');
    }
    if (!run->command->dry_run)
        buf_printf(out, "\"id\":\"%s\",\"digest\":\"%s\",", job->id.text, job->digest.text);
    buf_printf(out,
               "\"layers\":{\"in\":%u,\"out\":%zu,\"kept\":%zu},"
               "\"entries\":{\"in\":%" PRIu64 ",\"out\":%" PRIu64 ",\"whiteouts\":%" PRIu64 "},"
               "\"payload\":{\"in\":%" PRIu64 ",\"out\":%" PRIu64 "}",
               r->layers, s->count, s->kept, r->entries_in - r->entries_kept, r->entries_out,
               r->whiteouts, r->payload_in, r->payload_out);
    if (run->command->carve)
        print_carved_json(run, job, out);
    else if (run->command->dry_run)
        put_plan(job, out);
    if (!run->command->dry_run)
        put_made(s, out);
    buf_printf(out, ",\"divergences\":%" PRIu64 "}", r->divergences);
}

static void put_entry(const struct squash_run *run, const struct squash_entry *entry,
                      struct buf *out)
{
    bool several = entry->count > 1;

    if (several) {
        buf_putc(out, '{');
        put_name(run, entry, out);
        if (!run->command->dry_run)
            buf_printf(out, "\"digest\":\"%s\",", entry->digest.text);
        buf_puts(out, "\"images\":[");
    }
    for (size_t i = 0; i < entry->count; i++) {
        if (i)
            buf_putc(out, ',');
        put_job(run, &run->jobs[entry->first + i], several ? NULL : entry, out);
    }
    if (several)
        buf_puts(out, "]}");
}

static void put_json(const struct squash_run *run, struct buf *out)
{
    buf_puts(out, squash_has_several(run) ? "{\"images\":[" : "");
    for (size_t i = 0; i < run->entry_count; i++) {
        if (i)
            buf_putc(out, ',');
        put_entry(run, &run->entries[i], out);
    }
    if (squash_has_several(run))
        buf_putc(out, ']');
    if (run->command->family)
        print_family_json(run, out);
    buf_puts(out, squash_has_several(run) ? "}\n" : "\n");
}

/* ---- text ---- */

static void put_text_plan(const struct squash_job *job, struct buf *out)
{
    enum { SHOWN = 60 };
    char size[HUMAN_SIZE];

    for (size_t i = 0; i < job->image->layer_count; i++) {
        const struct layer *layer = &job->image->layers[i];
        const char *by = history_created_by(json_root(job->image->config), i);
        buf_printf(out, "%-5s layer %-3u %10s  ", i < job->squashed.kept ? "keep" : "merge",
                   layer->number, human_size(layer->size, size));
        if (by)
            buf_put_printable(out, by, strnlen(by, SHOWN));
        buf_putc(out, '\n');
    }
}

/* Appends what tells the job from others: the image's name, its platform, both or nothing. */
static void put_subject(const struct squash_run *run, const struct squash_job *job, struct buf *out)
{
    const char *name = job->image->name;

    if (squash_has_several(run) && name)
        buf_put_printable(out, name, strlen(name));
    if (squash_has_several(run) && name && job->platform)
        buf_putc(out, ' ');
    if (job->platform)
        buf_put_printable(out, job->platform, strlen(job->platform));
}

static void put_text_job(const struct squash_run *run, const struct squash_job *job,
                         struct buf *out)
{
    const struct squashed *s = &job->squashed;
    const struct merged_report *r = &s->report;
    char in[HUMAN_SIZE], out_size[HUMAN_SIZE];
    size_t start = out->len;

    put_subject(run, job, out);
    if (out->len > start)
        buf_puts(out, ":\n");
    if (run->command->carve)
        print_carved_text(run, job, out);
    else
        put_text_plan(job, out);
    buf_printf(out,
               "layers %u -> %zu (%zu kept), entries %" PRIu64 " -> %" PRIu64 ", content %s -> %s",
               r->layers, s->count, s->kept, r->entries_in - r->entries_kept, r->entries_out,
               human_size(r->payload_in, in), human_size(r->payload_out, out_size));
    if (r->whiteouts)
        buf_printf(out, ", whiteouts %" PRIu64, r->whiteouts);
    buf_putc(out, '\n');
}

/* Says how many layers there are now; "3 layers became 1, above 2 kept ones". */
static void put_layers(const struct squashed *s, struct buf *out)
{
    size_t merged = s->report.layers - s->kept, made = s->count - s->kept;

    if (s->kept && made == 0) {
        buf_printf(out, "%zu layer%s kept%s", s->kept, s->kept == 1 ? " is" : "s are",
                   merged ? "; the newer ones add nothing" : "");
        return;
    }
    buf_printf(out, "%zu layer%s became %zu", merged, human_s(merged), made);
    if (s->kept)
        buf_printf(out, ", above %zu kept one%s", s->kept, human_s(s->kept));
}

/* Says the text, and empties it. */
static void say(struct buf *text)
{
    if (text->len > 0)
        log_info("%s", text->data);
    buf_truncate(text, 0);
}

static void say_result(const struct squash_run *run, const struct squash_job *job)
{
    const struct squash_command *c = run->command;
    _cleanup_buf_ struct buf text = BUF_INIT;
    const struct merged_report *r = &job->squashed.report;
    uint64_t dead = r->payload_in > r->payload_out ? r->payload_in - r->payload_out : 0;
    char left_out[HUMAN_SIZE], all[HUMAN_SIZE];

    put_subject(run, job, &text);
    if (text.len)
        buf_puts(&text, ": ");
    if (c->carve)
        print_carved_layers(job, c->like != NULL, &text);
    else
        put_layers(&job->squashed, &text);
    if (dead)
        buf_printf(&text, "; %s of %s are left out, which newer layers replace or delete",
                   human_size(dead, left_out), human_size(r->payload_in, all));
    say(&text);
    if (!c->carve)
        return;
    if (c->stable_times)
        print_carved_times(job, &text);
    say(&text);
    print_carved_probes(job, c->like != NULL, &text);
    say(&text);
    print_pulls_line(job, c->like != NULL, &text);
    say(&text);
}

/*
 * Appends ID and digest; an image index has no ID. With --all-images each image has one line, with
 * its name first.
 */
static void put_result(const struct squash_run *run, const struct squash_entry *entry,
                       struct buf *out)
{
    const struct squash_job *job = &run->jobs[entry->first];
    bool is_index = entry->count > 1;
    const char *digest = is_index ? entry->digest.text : job->digest.text;

    if (squash_has_several(run) && !put_called(run, entry, out))
        buf_putc(out, '-');
    if (squash_has_several(run))
        buf_printf(out, " %s %s\n", is_index ? "-" : job->id.text, digest);
    else if (is_index)
        buf_printf(out, "%s\n", digest);
    else
        buf_printf(out, "%s\n%s\n", job->id.text, digest);
}

/* On standard output after a rehearsal, else on standard error. */
static void say_family(const struct squash_run *run, struct buf *out)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    print_family_text(run, &text);
    if (run->command->dry_run)
        buf_printf(out, "%s\n", text.data ? text.data : "");
    else if (!run->command->quiet && text.data)
        log_info("%s", text.data);
}

static void put_text(const struct squash_run *run, struct buf *out)
{
    const struct squash_command *c = run->command;

    for (size_t i = 0; i < run->count; i++) {
        if (c->dry_run)
            put_text_job(run, &run->jobs[i], out);
        else if (!c->quiet)
            say_result(run, &run->jobs[i]);
    }
    if (c->family)
        say_family(run, out);
    if (c->dry_run)
        return;
    if (c->verify && !c->quiet)
        log_info("verified: the same tree%s", c->stable_times ? ", but for these times" : "");
    for (size_t i = 0; i < run->entry_count; i++)
        put_result(run, &run->entries[i], out);
}

int squash_print(const struct squash_run *run, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    if (run->command->json)
        put_json(run, &out);
    else
        put_text(run, &out);
    if (program_print(&out, err) < 0)
        return -1;
    if (run->command->quiet || run->command->json)
        return 0;
    if (run->command->dry_run)
        log_info("nothing was written: leave out --dry-run to write the image");
    else
        squash_say_next(run);
    return 0;
}
