/*
 * Classic BPF programs as seccomp runs them (seccomp(2)): how they can end for one system call,
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
 * Sets *out to true if a path through the program ends in anything but a refusal: in "allow" or
 * "log", or in asking a tracer or another program, whose answer is unknown. Number and architecture
 * are known. Every test of an argument is taken to go either way: no value is overlooked, but a
 * program whose tests contradict each other may seem to allow more than it does. A program that the
 * kernel would not load lets nothing pass. Returns -1 only without memory.
 */
int bpf_may_pass(const struct sock_filter *program, size_t count, uint32_t number, uint32_t arch,
                 bool *out, struct err *err) must_check;

#endif
