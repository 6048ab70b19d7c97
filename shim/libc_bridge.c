/*
 * What Debian's archives of yajl, libseccomp and libcap ask a libc for and musl's libc.a has not:
 * they were compiled with glibc's headers, with _FORTIFY_SOURCE, as of Debian 13 with the strto* of
 * C23, and with names for files of 64 bits. The checks of the fortified ones are kept; musl's own
 * headers have none, so our sources have them only where they are linked with glibc.
 *
 * What else of glibc's ABI these archives rely on, read from `nm -u` and their sources, and why it
 * holds:
 * - errno through __errno_location(), ctype.h through __ctype_b_loc() and __ctype_tolower_loc(),
 *   assert() through __assert_fail(): musl has these with glibc's meaning, on purpose.
 * - The stack protector's canary: musl sets it where the compiler looks (on x86-64 %fs:0x28).
 * - FILE: made, written and closed by functions alone (libseccomp's PFC, libcap's reading of
 *   /proc/PID/status).
 * - Structures that cross are the kernel's own (capget, prctl, sock_fprog). Of a libc's there is
 *   struct stat, in libcap's cap_file alone, which flatbed-runtime does not link.
 * - No thread, locale, getpw*, resolver, standard stream, qsort or environ.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- _FORTIFY_SOURCE: `room` is what the compiler knew of the destination ---- */

void *__memcpy_chk(void *to, const void *from, size_t len, size_t room);
int __snprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, ...);
int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...);
int __asprintf_chk(char **to, int flag, const char *format, ...);
int __fprintf_chk(FILE *to, int flag, const char *format, ...);

void *__memcpy_chk(void *to, const void *from, size_t len, size_t room)
{
    if (len > room)
        abort();
    return memcpy(to, from, len);
}

/* glibc's flag forbids %n in formats that can be written to: all of these archives' are constants.
 */
int __snprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, ...)
{
    va_list args;

    (void)flag;
    if (size > room)
        abort();
    va_start(args, format);
    int len = vsnprintf(to, size, format, args);
    va_end(args);
    return len;
}

int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...)
{
    const size_t most = room < INT32_MAX ? room : INT32_MAX;
    va_list args;

    (void)flag;
    va_start(args, format);
    int len = vsnprintf(to, most, format, args);
    va_end(args);
    if (len >= 0 && (size_t)len >= most)
        abort();
    return len;
}

int __asprintf_chk(char **to, int flag, const char *format, ...)
{
    va_list args;

    (void)flag;
    va_start(args, format);
    int len = vasprintf(to, format, args);
    va_end(args);
    return len;
}

int __fprintf_chk(FILE *to, int flag, const char *format, ...)
{
    va_list args;

    (void)flag;
    va_start(args, format);
    int len = vfprintf(to, format, args);
    va_end(args);
    return len;
}

/* ---- C23: these take 0b, too, if the base is 0 or 2; nobody here asks with either ---- */

long __isoc23_strtol(const char *text, char **end, int base);
unsigned long __isoc23_strtoul(const char *text, char **end, int base);
long long __isoc23_strtoll(const char *text, char **end, int base);
unsigned long long __isoc23_strtoull(const char *text, char **end, int base);

long __isoc23_strtol(const char *text, char **end, int base)
{
    return strtol(text, end, base);
}

unsigned long __isoc23_strtoul(const char *text, char **end, int base)
{
    return strtoul(text, end, base);
}

long long __isoc23_strtoll(const char *text, char **end, int base)
{
    return strtoll(text, end, base);
}

unsigned long long __isoc23_strtoull(const char *text, char **end, int base)
{
    return strtoull(text, end, base);
}

/* ---- files of 64 bits: musl has no others ---- */

#undef fopen64
FILE *fopen64(const char *filename, const char *modes);

FILE *fopen64(const char *filename, const char *modes)
{
    return fopen(filename, modes);
}
