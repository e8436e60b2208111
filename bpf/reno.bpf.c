/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The kernel's Reno, recorded: each call goes to the kernel's own function. */
#include "recorder.h"

INNER_NAMES("");

static __always_inline void read_inner(struct sock *sk, u32 *inner)
{
}

WINDOW_CONTROL("reno", NOTHING, NOTHING, tcp_reno_ssthresh, tcp_reno_cong_avoid, NOTHING, NOTHING, NOTHING);
