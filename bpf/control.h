/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What controls of our own have in common: slow start, the window in use, and the struct that registers them.
 *
 * A control is a file that includes this one, says with `struct state` what it keeps of a connection (CA_PRIV bytes at most), and has
 *
 *     start(tp, state)              the connection begins
 *     grow(tp, state, acked)        `acked` packets were acknowledged, and the window was in use
 *     reduce(tp, state)             the new ssthresh
 *     measure(tp, state, sample)    packets were acknowledged, whatever the window
 *
 * and ends with CONTROL("name"); or, if something is to be done when the connection ends, CONTROL_WITH_END("name", function of its socket). There is no floating point in the kernel: factors are numbers of 1/1024. Each is the twin of the
 * control of the same name in crates/congestion, where the sources are. */
#pragma once

#include "recorder.h"

#define CA_PRIV 104 /* bytes of a control's own (ICSK_CA_PRIV_SIZE) */

enum { NO_RTT = 0xffffffff };

#define ONE 1024 /* 1, as a factor */

static __always_inline u64 at_least(u64 a, u64 b) { return a > b ? a : b; }

static __always_inline u64 at_most(u64 a, u64 b) { return a < b ? a : b; }

/* Whether the window limits the sender, so that it may grow (RFC 7661; in slow start, if half of it was used). */
static __always_inline bool window_is_used(const struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return 1;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

/* Whether losses are being repaired (fast recovery). */
static __always_inline bool in_recovery(struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)tp, icsk_ca_state) == 3;
}

/* Slow start first: packets that are left of those acknowledged when the window has come to ssthresh. */
static __always_inline u32 slow_start(struct tcp_sock *tp, u32 acked)
{
	return tp->snd_cwnd < tp->snd_ssthresh ? tcp_slow_start(tp, acked) : acked;
}

/* Growth by so many packets each round trip, of 1/1024; no faster than slow start. */
static __always_inline void add_each_round(struct tcp_sock *tp, u32 packets_x1024, u32 acked)
{
	u32 for_one = (u64)tp->snd_cwnd * ONE / at_least(packets_x1024, 1);

	tcp_cong_avoid_ai(tp, at_least(for_one, 1), acked);
}

/* Whether what was sent next when the last round trip ended is acknowledged: once a round trip. */
static __always_inline bool round_ended(const struct tcp_sock *tp, u32 *end)
{
	if ((s32)(tp->snd_una - *end) < 0)
		return 0;
	*end = tp->snd_nxt;
	return 1;
}

#define CONTROL(kernels_name) CONTROL_WITH_END(kernels_name, NOTHING)

#define CONTROL_WITH_END(kernels_name, end)                                                                     \
	_Static_assert(sizeof(struct state) <= CA_PRIV, "the kernel has no room for more");                     \
                                                                                                                \
	static __always_inline void call_start(struct sock *sk) { start((struct tcp_sock *)sk, ca_priv(sk)); }  \
                                                                                                                \
	static __always_inline u32 call_reduce(struct sock *sk)                                                 \
	{                                                                                                       \
		return at_least(reduce((struct tcp_sock *)sk, ca_priv(sk)), 2);                                 \
	}                                                                                                       \
                                                                                                                \
	static __always_inline void call_grow(struct sock *sk, u32 ack, u32 acked)                              \
	{                                                                                                       \
		struct tcp_sock *tp = (struct tcp_sock *)sk;                                                    \
                                                                                                                \
		if (window_is_used(tp))                                                                         \
			grow(tp, ca_priv(sk), acked);                                                           \
	}                                                                                                       \
                                                                                                                \
	static __always_inline void call_measure(struct sock *sk, const struct ack_sample *sample)              \
	{                                                                                                       \
		measure((struct tcp_sock *)sk, ca_priv(sk), sample);                                            \
	}                                                                                                       \
                                                                                                                \
	WINDOW_CONTROL(kernels_name, call_start, end, call_reduce, call_grow, NOTHING, NOTHING, call_measure)
