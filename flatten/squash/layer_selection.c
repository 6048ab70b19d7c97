#include "flatten/squash/layer_selection.h"

#include "base/human.h"

#include <string.h>

static bool is_number(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

static int parse_number(const char *option, const char *text, uint64_t *out, struct err *err)
{
    char *end;

    errno = 0;
    *out = strtoull(text, &end, 10);
    if (!is_number(text) || errno || *end)
        return err_set(err, ERR_USAGE, "--%s=%s: not a number of layers", option, text);
    return 0;
}

int layer_selection_parse(const char *keep_base, const char *last, struct layer_selection *out,
                          struct err *err)
{
    *out = (struct layer_selection){.has_last = last != NULL};
    if (keep_base && last)
        return err_set(err, ERR_USAGE,
                       "--keep-base and --last both choose the layers to merge: give one");
    if (last && parse_number("last", last, &out->last, err) < 0)
        return -1;
    if (last && out->last == 0)
        return err_set(err, ERR_USAGE, "--last=0 would merge nothing");
    if (keep_base && is_number(keep_base))
        return parse_number("keep-base", keep_base, &out->kept, err);
    if (keep_base && (!*keep_base || *keep_base == '-'))
        return err_set(err, ERR_USAGE, "--keep-base=%s names neither a number nor an image",
                       keep_base);
    out->base = keep_base;
    return 0;
}

size_t layer_selection_shared(const struct image *image, const struct image *base)
{
    size_t i = 0;

    for (; i < image->layer_count && i < base->layer_count; i++) {
        const struct layer *a = &image->layers[i], *b = &base->layers[i];
        if (!digest_equal(&a->diff_id, &b->diff_id) ||
            (a->digest.text[0] && b->digest.text[0] && !digest_equal(&a->digest, &b->digest)))
            break;
    }
    return i;
}

int layer_selection_resolve(const struct layer_selection *s, const struct image *image,
                            const struct image *base, size_t *kept, struct err *err)
{
    size_t count = image->layer_count;

    if (s->base) {
        *kept = layer_selection_shared(image, base);
        return *kept ? 0
                     : err_set(err, ERR_USAGE, "--keep-base=%s: the image shares no layers with it",
                               s->base);
    }
    if ((s->has_last ? s->last : s->kept) > count)
        return err_set(err, ERR_USAGE, "--%s=%llu: the image has %zu layer%s",
                       s->has_last ? "last" : "keep-base",
                       (unsigned long long)(s->has_last ? s->last : s->kept), count,
                       human_s(count));
    *kept = s->has_last ? count - (size_t)s->last : (size_t)s->kept;
    return 0;
}

size_t layer_selection_groups(const struct image *image, size_t kept, size_t into, size_t *ends)
{
    size_t left = image->layer_count - kept, at = kept, count = into < left ? into : left;
    uint64_t size = 0, done = 0;

    for (size_t i = kept; i < image->layer_count; i++)
        size += image->layers[i].size;
    for (size_t group = 0; group < count; group++) {
        size_t after = count - group - 1; /* groups that must get a layer each */
        uint64_t goal = size / count * (group + 1);
        do
            done += image->layers[at++].size;
        while (at + after < image->layer_count && (after == 0 || done < goal));
        ends[group] = at;
    }
    return count;
}
