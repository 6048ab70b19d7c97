#include "flatten/analyze/analysis.h"

#include "base/human.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_PATH = 200 };

int analysis_compress(struct analysis *a, const struct zfs_options *options, struct dedup *together,
                      struct err *err)
{
    _cleanup_dedup_ struct dedup *own = NULL;
    size_t most = options->exact ? 0 : DEDUP_SAMPLE;

    if (together && !(own = dedup_new(most, err)))
        return -1;
    if (zfs_read(a->image, &a->stack, options->record, options->exact ? 0 : ZFS_SAMPLE, own,
                 &a->zfs, err) < 0 ||
        zfs_plan_make(&a->zfs, &a->stack, a->image->name, &a->plan, err) < 0)
        return err_wrap(err, "%s", a->source);
    return together ? dedup_merge(together, own, err) : 0;
}

/* ---- tables ---- */

static void put_error(double error, struct buf *out)
{
    if (error > 0)
        buf_printf(out, " ±%.1f %%", 100 * error);
}

static void put_ratios(const struct zfs_sums *s, uint64_t all, struct buf *out)
{
    for (int kind = 0; kind < ZFS_KINDS; kind++) {
        buf_printf(out, "  %s %.2f", zfs_key[kind], zfs_ratio(s, (enum zfs_kind)kind));
        put_error(zfs_error(s, (enum zfs_kind)kind, all), out);
    }
}

void dedup_put_text(const struct dedup_report *r, struct buf *out)
{
    char all[HUMAN_SIZE], saved[HUMAN_SIZE], ram[HUMAN_SIZE];

    buf_printf(out, "  %" PRIu64 " record%s of %s, about %" PRIu64 " of them different", r->records,
               human_s(r->records), human_size(r->bytes, all), r->entries);
    put_error(r->entries_error, out);
    buf_printf(out, "\n  ratio %.2f", dedup_ratio(r));
    put_error(r->error, out);
    buf_printf(out, ": %s less to store; a table of %" PRIu64 " entr%s, about %s of memory\n",
               human_size(r->bytes - r->unique, saved), r->entries, human_y(r->entries),
               human_size(dedup_ram(r), ram));
}

static void put_plan(const struct analysis *a, const struct dedup_report *together, struct buf *out)
{
    _cleanup_buf_ struct buf path = BUF_INIT;

    buf_puts(out, "\nDatasets on ZFS (put your pool for tank)\n");
    for (size_t i = 0; i < a->plan.count; i++) {
        const struct zfs_dataset *d = &a->plan.list[i];
        buf_puts(out, "  ");
        zfs_plan_put_command(d, together, out);
        buf_puts(out, i ? "\n      # for /" : "\n      # for what is not named below: ");
        if (i) {
            human_put_short(out, layer_stack_path(&a->stack, d->dir.node, &path), MOST_PATH);
            buf_puts(out, ": ");
        }
        zfs_plan_put_reason(d, out);
        buf_putc(out, '\n');
    }
    if (together) {
        buf_puts(out, "  # ");
        zfs_plan_put_dedup_reason(together, out);
        buf_putc(out, '\n');
    }
}

void analysis_put_zfs_text(const struct analysis *a, const struct dedup_report *together,
                           struct buf *out)
{
    const struct zfs_report *z = &a->zfs;
    _cleanup_buf_ struct buf path = BUF_INIT;
    char size[HUMAN_SIZE];

    buf_printf(out,
               "\nCompression in records of %zu KiB (as ZFS has it), %" PRIu64 " of %" PRIu64
               " compressed\n  %9s",
               z->record / 1024, z->all.sums.records, z->all.records,
               human_size(z->all.bytes, size));
    put_ratios(&z->all.sums, z->all.records, out);
    buf_puts(out, "  all\n");
    for (size_t i = 0; i < z->dir_count; i++) {
        const struct zfs_dir *d = &z->dirs[i];
        buf_printf(out, "  %9s", human_size(d->bytes, size));
        if (d->sums.records)
            put_ratios(&d->sums, d->records, out);
        else
            buf_puts(out, "  (not in the sample)");
        buf_puts(out, "  /");
        human_put_short(out, layer_stack_path(&a->stack, d->node, &path), MOST_PATH);
        buf_putc(out, '\n');
    }
    if (z->deduped) {
        buf_puts(out, "\nBlock deduplication\n");
        dedup_put_text(&z->dedup, out);
    }
    put_plan(a, together, out);
}

/* ---- JSON ---- */

static void put_string(struct buf *out, const char *text)
{
    json_quote(out, text, strlen(text));
}

static void put_sums(const struct zfs_dir *d, struct buf *out)
{
    const struct zfs_sums *s = &d->sums;

    buf_printf(out,
               "\"bytes\":%" PRIu64 ",\"records\":%" PRIu64 ",\"sampled\":%" PRIu64
               ",\"logical\":%" PRIu64,
               d->bytes, d->records, s->records, s->logical);
    for (int kind = 0; kind < ZFS_KINDS; kind++)
        buf_printf(out, ",\"%s\":{\"physical\":%" PRIu64 ",\"ratio\":%.4f,\"error\":%.4f}",
                   zfs_key[kind], s->physical[kind], zfs_ratio(s, (enum zfs_kind)kind),
                   zfs_error(s, (enum zfs_kind)kind, d->records));
}

void dedup_put_json(const struct dedup_report *r, struct buf *out)
{
    buf_printf(out,
               "{\"records\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"sampled\":%" PRIu64
               ",\"entries\":%" PRIu64 ",\"entries_error\":%.4f,\"unique_bytes\":%" PRIu64
               ",\"saved_bytes\":%" PRIu64,
               r->records, r->bytes, r->sampled, r->entries, r->entries_error, r->unique,
               r->bytes - r->unique);
    buf_printf(out, ",\"ratio\":%.4f,\"error\":%.4f,\"entry_memory\":%d,\"memory\":%" PRIu64 "}",
               dedup_ratio(r), r->error, DEDUP_ENTRY_RAM, dedup_ram(r));
}

static void put_dataset(const struct analysis *a, const struct zfs_dataset *d,
                        const struct dedup_report *together, struct buf *out)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    buf_puts(out, "{\"path\":");
    put_string(out, layer_stack_path(&a->stack, d->dir.node, &text));
    buf_puts(out, ",\"dataset\":");
    put_string(out, d->name);
    buf_printf(out, ",\"recordsize\":%zu,\"compression\":\"%s\",\"dedup\":%s,\"command\":",
               d->choice.recordsize, zfs_use_key[d->choice.compression],
               !together                              ? "null"
               : dedup_ratio(together) >= DEDUP_WORTH ? "true"
                                                      : "false");
    buf_truncate(&text, 0);
    zfs_plan_put_command(d, together, &text);
    put_string(out, text.data ? text.data : "");
    buf_puts(out, ",\"reason\":");
    buf_truncate(&text, 0);
    zfs_plan_put_reason(d, &text);
    put_string(out, text.data ? text.data : "");
    buf_putc(out, '}');
}

static void put_datasets(const struct analysis *a, const struct dedup_report *together,
                         struct buf *out)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    buf_puts(out, ",\"datasets\":[");
    for (size_t i = 0; i < a->plan.count; i++) {
        buf_puts(out, i ? "," : "");
        put_dataset(a, &a->plan.list[i], together, out);
    }
    buf_putc(out, ']');
    if (!together)
        return;
    buf_puts(out, ",\"dedup\":");
    dedup_put_json(&a->zfs.dedup, out);
    buf_puts(out, ",\"dedup_reason\":");
    zfs_plan_put_dedup_reason(together, &text);
    put_string(out, text.data ? text.data : "");
}

void analysis_put_zfs_json(const struct analysis *a, const struct dedup_report *together,
                           struct buf *out)
{
    const struct zfs_report *z = &a->zfs;
    _cleanup_buf_ struct buf path = BUF_INIT;

    buf_printf(out, ",\"zfs\":{\"record\":%zu,\"files\":%" PRIu64 ",", z->record, z->files);
    put_sums(&z->all, out);
    buf_puts(out, ",\"directories\":[");
    for (size_t i = 0; i < z->dir_count; i++) {
        buf_printf(out, "%s{\"path\":", i ? "," : "");
        put_string(out, layer_stack_path(&a->stack, z->dirs[i].node, &path));
        buf_putc(out, ',');
        put_sums(&z->dirs[i], out);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
    put_datasets(a, together, out);
    buf_putc(out, '}');
}
