/*
 * Reads YAML 1.1 as JSON, as far as specifications use it: one document of mappings with texts as
 * keys, of sequences and of scalars. Plain scalars are true, false, null and decimal integers; all
 * others are texts.
 */
#ifndef SHIM_CDI_YAML_H
#define SHIM_CDI_YAML_H

#include "base/json/json.h"

/*
 * Returns a document whose member "spec" is the whole, for json_free; NULL with ERR_FORMAT for what
 * is no YAML, for anchors and aliases, for a key that comes twice, and for anything deeper than 32
 * levels.
 */
struct json_doc *cdi_yaml_parse(const char *text, size_t len, struct err *err) must_check;

#endif
