#include "flatten/merge/merged_tree.h"

#include "flatten/layer/walked_reader.h"

struct tree_merge {
    struct walked_reader *reader;
    struct entry_sink *sink;
    struct merged_report *report;
};

static int put_content(struct tree_merge *t, uint64_t size, struct err *err)
{
    uint64_t at = 0, offset;
    const void *data;
    size_t len;
    int rc;

    while ((rc = walked_reader_data(t->reader, &data, &len, &offset, err)) > 0) {
        if (entry_sink_data(t->sink, NULL, offset - at, err) < 0 ||
            entry_sink_data(t->sink, data, len, err) < 0)
            return -1;
        at = offset + len;
    }
    return rc < 0 ? -1 : entry_sink_data(t->sink, NULL, size - at, err);
}

static int put_entry(struct tree_merge *t, struct archive_entry *header, struct err *err)
{
    uint64_t size = (uint64_t)archive_entry_size(header);

    if (entry_sink_entry(t->sink, header, err) < 0)
        return -1;
    t->report->entries_in++;
    t->report->entries_out++;
    t->report->payload_out += size;
    return size ? put_content(t, size, err) : 0;
}

/* Returns 1 after an entry, 0 at the end, or -1. */
static int take_entry(struct tree_merge *t, struct err *err)
{
    struct archive_entry *header;
    bool dropped;
    int rc = walked_reader_next(t->reader, &header, &dropped, err);

    if (rc <= 0)
        return rc;
    t->report->dropped += dropped;
    return put_entry(t, header, err) < 0 ? walked_reader_wrap(t->reader, err) : 1;
}

static int walk_tree(struct tree_merge *t, struct err *err)
{
    int rc = 1;

    while (rc > 0)
        rc = take_entry(t, err);
    return rc;
}

int merged_tree(const struct image *image, struct entry_sink *sink, struct merged_report *report,
                struct err *err)
{
    struct image_tree *tree = image->tree;
    _cleanup_walked_reader_ struct walked_reader *reader = walked_reader_open(tree, 0, err);
    struct tree_merge t = {reader, sink, report};

    int rc = reader ? walk_tree(&t, err) : -1;
    report->payload_in = tree->size > report->payload_out ? tree->size : report->payload_out;
    /* Files of an image are removed one by one: the walk may have seen only some of them. */
    return image_check_still(image, err) < 0 ? -1 : rc;
}
