/* Records of warm: a text that is read is written again as it was, but for leading zeros. */
#include "tests/fuzz/fuzz.h"

#include "shim/warm/record/warm_record.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_arena_ struct arena arena = {.limit = 64 * 1024 * 1024};
    _cleanup_buf_ struct buf once = BUF_INIT, twice = BUF_INIT;
    struct warm_record record, again;
    struct err err = ERR_INIT;

    if (warm_record_parse((const char *)data, size, &arena, &record, &err) < 0)
        return 0;
    for (size_t i = 0; i < record.count; i++)
        must(record.files[i].path[0] != '/' && record.files[i].count > 0);
    warm_record_print(&record, &once);
    must(warm_record_parse(once.data, once.len, &arena, &again, &err) == 0);
    must(again.bytes == record.bytes && again.count == record.count);
    warm_record_print(&again, &twice);
    must(buf_equal(&once, &twice));
    return 0;
}
