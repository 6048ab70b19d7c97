/* Helpers of the JSON tests. */
#ifndef TESTS_JSON_UNIT_H
#define TESTS_JSON_UNIT_H

#include "base/json/json.h"

#include "tests/unit/lib/unit.h"

/* Parses a text that must be valid. */
static inline struct json_doc *parsed(const char *text, size_t len, const struct json_options *o)
{
    struct err err = ERR_INIT;
    struct json_doc *doc = json_parse(text, len, o, &err);

    if (!doc)
        fail_msg("%.200s: %s", text, err.msg);
    return doc;
}

#define parsed_text(text) parsed(text, strlen(text), NULL)

/* Writes the document. The caller frees the text. */
static inline char *written(struct json_doc *doc)
{
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    assert_works(json_write(doc, &out, &err), err);
    char *text = buf_take(&out, &err);
    assert_non_null(text);
    return text;
}

#define assert_written(doc, expected)                                                              \
    do {                                                                                           \
        _cleanup_free_ char *written_ = written(doc);                                              \
        assert_string_equal(written_, expected);                                                   \
    } while (0)

#endif
