/*
 * The analyses as one HTML file that needs no other file and no network. The build embeds template,
 * style and script (flatten/analyze/page/); the data is JSON, escaped so that no name in an image
 * can end its element.
 */
#ifndef FLATTEN_HTML_PAGE_H
#define FLATTEN_HTML_PAGE_H

#include "flatten/analyze/analysis.h"

/* Appends the page. `together`: as analysis_put_json has it. */
int html_page_make(const struct analysis *list, size_t count, const struct dedup_report *together,
                   struct buf *out, struct err *err) must_check;

/*
 * Appends JSON, escaped for a <script> element (HTML standard, "Restrictions for contents of script
 * elements"): without '<', '>', '&', U+2028 and U+2029.
 */
void html_page_put_data(struct buf *out, const char *json, size_t len);

/*
 * Appends the tree for the map: {"name", "live", "dead", "children"}. In each directory, children
 * with less than a two-thousandth of all bytes are summed up under one name.
 */
int html_page_put_tree(const struct layer_stack *s, struct buf *out, struct err *err) must_check;

/*
 * Appends an array with an object for each layer that hides files: {"by", "bytes", "files",
 * "tree"}. A node of the tree is {"name", "bytes", "files", "cause", "of", "children"}: cause and
 * the layer that has the files are left out where they differ. Nodes with less than a hundredth of
 * the layer or a two-thousandth of all layers are summed up in {"others", "bytes", "files"}; all
 * trees together have at most ten thousand nodes.
 */
int html_page_put_hidden(const struct layer_stack *s, struct buf *out, struct err *err) must_check;

#endif
