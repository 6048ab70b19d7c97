#include "flatten/analyze/analyses.h"

#include "base/fdio.h"
#include "flatten/analyze/analysis.h"
#include "flatten/analyze/html_page.h"

struct analyses {
    const struct lookup_costs *costs;
    struct analysis *list;
    size_t count;
    bool compared; /* `shared` is filled */
    struct duplicate_shared shared;
    bool deduped; /* `dedup` is filled */
    struct dedup_report dedup;
};

struct analyses *analyses_new(size_t most, const struct lookup_costs *costs, struct err *err)
{
    _cleanup_analyses_ struct analyses *all = calloc(1, sizeof(*all));

    if (!all || !(all->list = calloc(most, sizeof(*all->list)))) {
        err_nomem(err);
        return NULL;
    }
    all->costs = costs;
    return steal_ptr(&all);
}

void analyses_free(struct analyses *all)
{
    for (size_t i = 0; i < all->count; i++)
        analysis_clear(&all->list[i]);
    free(all->list);
    free(all);
}

int analyses_add(struct analyses *all, struct image *image, const char *source, struct err *err)
{
    return analysis_make(image, source, all->costs, &all->list[all->count++], err);
}

int analyses_check_still(const struct analyses *all, struct err *err)
{
    for (size_t i = 0; i < all->count; i++)
        if (image_check_still(all->list[i].image, err) < 0)
            return -1;
    return 0;
}

/* ---- contents ---- */

/* Reads what is wanted of each image, and sums up. */
static int compare_contents(struct analyses *all, const struct duplicate_image *images,
                            uint8_t *const *wanted, struct err *err)
{
    for (size_t i = 0; i < all->count; i++) {
        struct analysis *a = &all->list[i];
        if (contents_read(a->image, &a->stack, wanted[i], &a->contents, err) < 0)
            return err_wrap(err, "%s", a->source);
    }
    for (size_t i = 0; i < all->count; i++)
        if (analysis_find_duplicates(&all->list[i], &images[i], err) < 0)
            return -1;
    all->compared = true;
    return duplicates_share(images, all->count, &all->shared, err);
}

int analyses_compare(struct analyses *all, struct err *err)
{
    _cleanup_free_ struct duplicate_image *images = calloc(all->count, sizeof(*images));
    _cleanup_free_ uint8_t **wanted = calloc(all->count, sizeof(*wanted));

    if (!images || !wanted)
        return err_nomem(err);
    for (size_t i = 0; i < all->count; i++) {
        struct analysis *a = &all->list[i];
        images[i] = (struct duplicate_image){&a->stack, a->image, &a->contents};
    }
    int rc = duplicates_want(images, all->count, wanted, err);
    if (rc == 0)
        rc = compare_contents(all, images, wanted, err);
    for (size_t i = 0; i < all->count; i++)
        free(wanted[i]);
    return rc;
}

int analyses_compress(struct analyses *all, const struct zfs_options *options, struct err *err)
{
    _cleanup_dedup_ struct dedup *together = NULL;

    if (options->record == 0)
        return 0;
    if (options->dedup && !(together = dedup_new(options->exact ? 0 : DEDUP_SAMPLE, err)))
        return -1;
    for (size_t i = 0; i < all->count; i++)
        if (analysis_compress(&all->list[i], options, together, err) < 0)
            return -1;
    all->deduped = together != NULL;
    if (together)
        dedup_sum(together, &all->dedup);
    return 0;
}

/* ---- rules ---- */

bool analyses_judge(struct analyses *all, const struct ci_rules *rules)
{
    bool kept = true;

    for (size_t i = 0; i < all->count; i++)
        kept = analysis_judge(&all->list[i], rules) && kept;
    return kept;
}

void analyses_list_broken(const struct analyses *all, analyses_broken_rule *report, void *ctx)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct analysis *a = &all->list[i];
        for (size_t n = 0; n < a->result_count; n++) {
            _cleanup_buf_ struct buf text = BUF_INIT;
            if (a->results[n].kept)
                continue;
            ci_result_put_text(&a->results[n], &text);
            report(ctx, a->source, text.data ? text.data : "a rule is broken");
        }
    }
}

/* ---- writing ---- */

static const struct dedup_report *dedup_together(const struct analyses *all)
{
    return all->deduped ? &all->dedup : NULL;
}

void analyses_put_text(const struct analyses *all, struct buf *out)
{
    for (size_t i = 0; i < all->count; i++) {
        if (i)
            buf_putc(out, '\n');
        analysis_put_text(&all->list[i], dedup_together(all), out);
    }
    if (all->compared && all->count > 1)
        duplicates_put_shared_text(&all->shared, out);
    if (all->deduped && all->count > 1) {
        buf_puts(out, "\nDeduplicated across all images\n");
        dedup_put_text(&all->dedup, out);
    }
}

void analyses_put_json(const struct analyses *all, struct buf *out)
{
    buf_puts(out, "{\"version\":1,\"images\":[");
    for (size_t i = 0; i < all->count; i++) {
        if (i)
            buf_putc(out, ',');
        analysis_put_json(&all->list[i], dedup_together(all), out);
    }
    buf_putc(out, ']');
    if (all->compared) {
        buf_putc(out, ',');
        duplicates_put_shared_json(&all->shared, out);
    }
    if (all->deduped) {
        buf_puts(out, ",\"dedup\":");
        dedup_put_json(&all->dedup, out);
    }
    buf_puts(out, "}\n");
}

int analyses_write_page(const struct analyses *all, int fd, struct err *err)
{
    _cleanup_buf_ struct buf page = BUF_INIT;

    if (html_page_make(all->list, all->count, dedup_together(all), &page, err) < 0)
        return -1;
    return fd_write_all(fd, page.data, page.len, err);
}
