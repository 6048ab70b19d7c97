/* Does a static program of musl work with the archives that were made for glibc? */
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <unistd.h>
#include <yajl/yajl_gen.h>
#include <yajl/yajl_parse.h>

static int on_integer(void *context, long long value)
{
    *(long long *)context = value;
    return 1;
}

static int parses(void)
{
    static const unsigned char text[] = "[ 18446744073709 ]";
    const yajl_callbacks callbacks = {.yajl_integer = on_integer};
    long long value = 0;
    yajl_handle handle = yajl_alloc(&callbacks, NULL, &value);
    int ok = handle && yajl_parse(handle, text, sizeof(text) - 1) == yajl_status_ok &&
             yajl_complete_parse(handle) == yajl_status_ok && value == 18446744073709;
    yajl_free(handle);
    return ok;
}

static int generates(void)
{
    const unsigned char *text;
    size_t len;
    yajl_gen gen = yajl_gen_alloc(NULL);
    int ok = gen && yajl_gen_double(gen, 0.5) == yajl_gen_status_ok &&
             yajl_gen_get_buf(gen, &text, &len) == yajl_gen_status_ok && len == 3 &&
             memcmp(text, "0.5", len) == 0;
    yajl_gen_free(gen);
    return ok;
}

static int filters(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int ends[2];
    char program[8];
    int ok = filter && pipe(ends) == 0 &&
             seccomp_rule_add(filter, SCMP_ACT_ERRNO(1), SCMP_SYS(mount), 0) == 0 &&
             seccomp_export_bpf(filter, ends[1]) == 0 &&
             read(ends[0], program, sizeof(program)) == sizeof(program);
    seccomp_release(filter);
    return ok;
}

static int names(void)
{
    cap_t set = cap_from_text("cap_chown=ep");
    char *text = set ? cap_to_text(set, NULL) : NULL;
    int ok = text && strcmp(text, "cap_chown=ep") == 0;
    cap_free(text);
    cap_free(set);
    return ok;
}

int main(void)
{
    return parses() && generates() && filters() && names() ? EXIT_SUCCESS : EXIT_FAILURE;
}
