#include "shim/admin/watch/costs.h"

#include "base/fdio.h"
#include "base/json/json.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COSTS_BYTES = 64 * 1024 };

static const char *const kinds[2] = {"stat", "missing"};

/* Returns a number from 0 to 1000; -1 for anything else. */
static double number(const struct json *value)
{
    double n = json_is(value, JSON_NUMBER) ? strtod(value->text, NULL) : -1;

    return isfinite(n) && n >= 0 && n <= 1000 ? n : -1;
}

/* Returns the seconds of a lookup with one layer, or -1. */
static double seconds_of(const struct json *lookups, const char *kind)
{
    for (size_t i = 0; json_is(lookups, JSON_ARRAY) && i < json_count(lookups); i++) {
        const struct json *one = json_at(lookups, i);
        const char *is = json_text(json_get(one, "kind")), *cold = json_text(json_get(one, "cold"));
        if (is && cold && strcmp(is, kind) == 0 && strcmp(cold, "mount") == 0)
            return number(json_path(one, "layers", "1", NULL));
    }
    return -1;
}

int watch_costs_parse(const char *text, size_t len, struct watch_costs *out, struct err *err)
{
    static const struct json_options options = {.max_bytes = COSTS_BYTES};
    _cleanup_json_ struct json_doc *doc = json_parse(text, len, &options, err);

    *out = (struct watch_costs){0};
    if (!doc)
        return -1;
    for (int miss = 0; miss < 2; miss++) {
        out->seconds[miss] = seconds_of(json_get(json_root(doc), "lookups"), kinds[miss]);
        out->more[miss] = number(json_path(json_root(doc), "k", kinds[miss], "mount", NULL));
        if (out->seconds[miss] < 0 || out->more[miss] < 0)
            return err_set(err, ERR_FORMAT, "no times of lookups; run flatbed bench --save again");
    }
    out->known = true;
    return 0;
}

int watch_costs_read(const char *path, bool must, struct watch_costs *out, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    *out = (struct watch_costs){0};
    if (file_read(AT_FDCWD, path, COSTS_BYTES, &text, err) < 0)
        return !must && err_missing(err) ? 0 : -1;
    return watch_costs_parse(text.data ? text.data : "", text.len, out, err) < 0
               ? err_wrap(err, "%s", path)
               : 0;
}
