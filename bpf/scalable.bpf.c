/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Scalable TCP (Kelly, CCR 33(2), 2003): 1/100 packet for each packet acknowledged; a loss takes an eighth of the window. Up to 16 packets it
 * is Reno. */
#include "control.h"

struct state {
	u32 unused;
};

enum { LEGACY_WINDOW = 16, PACKETS_FOR_ONE = 100 };

INNER_NAMES("");

static __always_inline void read_inner(struct sock *sk, u32 *inner)
{
}

static __always_inline void start(struct tcp_sock *tp, struct state *state)
{
}

static __always_inline void grow(struct tcp_sock *tp, struct state *state, u32 acked)
{
	acked = slow_start(tp, acked);
	if (acked)
		tcp_cong_avoid_ai(tp, tp->snd_cwnd <= LEGACY_WINDOW ? tp->snd_cwnd : PACKETS_FOR_ONE, acked);
}

static __always_inline u32 reduce(struct tcp_sock *tp, struct state *state)
{
	u32 cwnd = tp->snd_cwnd;

	return cwnd <= LEGACY_WINDOW ? cwnd / 2 : cwnd - cwnd / 8;
}

static __always_inline void measure(struct tcp_sock *tp, struct state *state, const struct ack_sample *sample)
{
}

CONTROL("scalable");
