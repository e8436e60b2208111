/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The kernel's CUBIC, with or without its HyStart, which the kernel lets one choose for all of its connections at once only: each call goes to
 * the kernel's own function, and without HyStart that one finds that slow start has ended already (`hystart_update` is not asked then). */
#include "cubic.h"

/* Set before the program is loaded (crates/emulation/src/cubic.rs has the same field). */
const volatile struct parameters {
	u32 hystart;
} parameters SEC(".rodata.parameters") = { .hystart = 1 };

static __always_inline void acked(struct sock *sk, const struct ack_sample *sample)
{
	struct bictcp *ca = ca_priv(sk);

	if (!parameters.hystart)
		ca->found = 1;
	cubictcp_acked(sk, sample);
}

KERNELS_CUBIC("cubic_linux", acked);
