/*
 * Classic BPF programs as seccomp runs them (seccomp(2)): where they can end for one system call,
 * whatever its arguments. Pure.
 */
#ifndef SHIM_BPF_H
#define SHIM_BPF_H

#include "base/cleanup.h"
#include "base/err.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * *out is true if some way through the program ends in anything but a refusal: in "allow" or "log",
 * or where a tracer or another program is asked, which say yes if they like. Number and
 * architecture are known; of arguments every test is taken to come out either way, so that no value
 * is overlooked, and a program whose tests contradict each other may be taken for more than it is.
 * A program that the kernel would not have taken lets nothing pass. -1 only without memory.
 */
int bpf_may_pass(const struct sock_filter *program, size_t count, uint32_t number, uint32_t arch,
                 bool *out, struct err *err) must_check;

#endif
