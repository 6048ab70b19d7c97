/*
 * What the linker lays out to be read-only once addresses are in it (-z relro) becomes so in a
 * program of musl's, too: its start relocates a static-pie and leaves it at that, where glibc's
 * protects it.
 */
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>

/* The linker's: where this program begins. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static void protect(uintptr_t from, uintptr_t to)
{
    const uintptr_t page = getauxval(AT_PAGESZ);

    from &= -page;
    to &= -page;
    if (to > from && mprotect((void *)from, to - from, PROT_READ) < 0)
        abort();
}

__attribute__((constructor)) static void protect_relro(void)
{
    const ElfW(Phdr) *header = (const ElfW(Phdr) *)getauxval(AT_PHDR);

    for (unsigned long left = getauxval(AT_PHNUM); left > 0; left--, header++)
        if (header->p_type == PT_GNU_RELRO) {
            uintptr_t start = (uintptr_t)__ehdr_start + header->p_vaddr;
            protect(start, start + header->p_memsz);
        }
}
