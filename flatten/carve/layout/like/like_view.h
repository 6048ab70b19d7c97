/* The tree that some of the previous layers show together, and the files of the new version in it.
 */
#ifndef FLATTEN_LIKE_VIEW_H
#define FLATTEN_LIKE_VIEW_H

#include "flatten/carve/layout/like/layout_like.h"

enum { LIKE_NEW = UINT16_MAX }; /* in like_view.by_file: no kept layer has the file */

struct like_view {
    const struct layout_input *in;
    const struct layout_identity *identities;
    const struct layout_previous *previous;
    size_t *starts;       /* by previous layer: index of its first entry; one more for the end */
    uint32_t *links;      /* by entry: names of the file whose first name it is */
    uint32_t *file_links; /* by file: its names */
    uint8_t *exists;      /* by node: 1 if the new version has it */

    /* These are about the layers that like_view_make was given. */
    uint32_t *newest;  /* by node: its newest entry; LIKE_IMPLIED for a directory without */
    uint16_t *layer;   /* by node: the newest layer that has it, plus 1; 0: none has */
    uint16_t *floor;   /* by node: the oldest layer of which something shows below it, plus 1 */
    uint8_t *kind;     /* by node: enum layout_kind of the newest */
    uint16_t *by_file; /* previous layer that shows the file as it is, or LIKE_NEW */
    uint64_t *live;    /* by previous layer: bytes of such files */
    uint64_t *bytes;   /* by previous layer: bytes of all files; of every layer */
    bool *unsound;     /* by previous layer */
};

#define LIKE_IMPLIED LAYOUT_NO_ENTRY

/* Borrows all of it. The caller calls like_view_clear, also after a failure. */
int like_view_init(const struct layout_input *in, const struct layout_identity *identities,
                   const struct layout_previous *previous, struct like_view *out,
                   struct err *err) must_check;

/* Looks at the previous layers with kept[layer], one over the other, and sets `unsound` of them. */
void like_view_make(struct like_view *v, const bool *kept);

/* Returns true if the layers show a directory there, with the header of the new version. */
bool like_view_has_header(const struct like_view *v, uint32_t dir);

/* Returns true if a path must be hidden: the layers show it, in a directory of the new version,
 * which does not have it. */
bool like_view_needs_whiteout(const struct like_view *v, uint32_t node);

/* Frees what the view owns. */
void like_view_clear(struct like_view *v);

#define _cleanup_like_view_ _cleanup_(like_view_clear)

#endif
