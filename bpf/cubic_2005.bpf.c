/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* CUBIC as first published (Rhee & Xu, PFLDnet 2005): a cubic of the time since the last reduction, whose growth is clamped.
 *
 * | symbol | here |
 * | --- | --- |
 * | W_max | `w_max`, of 1/1024 packets |
 * | K | `k`, of 1/1024 s |
 * | C | `C_NUMERATOR` / 1024, or `WRONG_C` / 1024 with the scaling error of Linux before 2.6.19 |
 * | S_max | `S_MAX` packets/s |
 * | W_tcp | `origin` + `friendly` x t/RTT |
 *
 * The readings of the source are those of crates/congestion/src/cubic_2005.rs. */
#include "control.h"

/* Set before the program is loaded (crates/emulation/src/cubic.rs has the same fields). */
const volatile struct parameters {
	u32 scaling_error;
	u32 fast_convergence;
	u32 reno_friendly;
} parameters SEC(".rodata.parameters") = { .fast_convergence = 1, .reno_friendly = 1 };

enum { C_NUMERATOR = 410, WRONG_C = 32, S_MAX = 160, KEPT_X5 = 4, FRIENDLY = 341 /* 3 x 0.2 / 1.8, of 1/1024 */ };
enum { LOSS = 4 /* TCP_CA_Loss */ };

#define LONGEST (1LL << 18) /* 256 s: beyond, the cubic of 1/1024 s has no room */

struct state {
	u64 epoch_us;  /* when it began; 0: there is none */
	u64 unused_us; /* since when the window has not been used; 0: it is */
	u32 w_max;
	u32 origin; /* window at the beginning of the epoch, of 1/1024 packets: that of a reduction has a fraction */
	u32 k;
};

INNER_NAMES("w_max,k,origin");

static __always_inline void read_inner(struct sock *sk, u32 *inner)
{
	const struct state *state = ca_priv(sk);

	inner[0] = state->w_max;
	inner[1] = state->k;
	inner[2] = state->origin;
}

static __always_inline u64 now_us(void) { return bpf_ktime_get_ns() / 1000; }

/* In 1/1024 s; no more than LONGEST. */
static __always_inline s64 ticks(u64 us) { return at_most(us * ONE / 1000000, LONGEST); }

/* Newton's method from above, which comes to a third closer at first: forty steps from LONGEST to one. Without a branch, as the verifier follows
 * each side of each. */
static __always_inline u32 cube_root(u64 cube)
{
	u64 root = LONGEST;

	for (int step = 0; step < 40; step++)
		root = (2 * root + cube / (root * root | !root)) / 3;
	return root;
}

static __always_inline void begin_epoch(struct state *state, u32 window)
{
	state->epoch_us = now_us();
	state->origin = window;
	state->w_max = at_least(state->w_max, window);
	/* K = cbrt((W_max - W)/C), C = 2/5 */
	state->k = cube_root((u64)(state->w_max - window) * 5 / 2 << 20);
}

static __always_inline void start(struct tcp_sock *tp, struct state *state)
{
	state->epoch_us = state->unused_us = 0;
	state->w_max = state->origin = state->k = 0;
}

/* W(t), of 1/1024 packets. */
static __always_inline s64 cubic(const struct state *state, u64 t_us)
{
	s64 x = ticks(t_us) - state->k;
	s64 size = x < 0 ? -x : x;
	s64 term;

	size = at_most(size, LONGEST);
	term = size * size * size >> 10;
	term = (parameters.scaling_error ? WRONG_C : C_NUMERATOR) * term >> 20;
	return state->w_max + (x < 0 ? -term : term);
}

static __always_inline void grow(struct tcp_sock *tp, struct state *state, u32 acked)
{
	u64 rtt_us = tp->srtt_us >> 3, now = now_us();
	s64 step, most = S_MAX * ONE * rtt_us / 1000000;
	u64 t_us;

	acked = slow_start(tp, acked);
	if (!acked)
		return;
	if (state->epoch_us && state->unused_us)
		state->epoch_us += now - state->unused_us;
	state->unused_us = 0;
	if (!state->epoch_us)
		begin_epoch(state, tp->snd_cwnd * ONE);
	t_us = now - at_most(state->epoch_us, now);
	step = cubic(state, t_us + rtt_us) - (s64)tp->snd_cwnd * ONE;
	if (step > 0)
		add_each_round(tp, step < most ? step : most, acked);
	if (parameters.reno_friendly && rtt_us) {
		u64 friendly = (state->origin + FRIENDLY * t_us / rtt_us) / ONE;

		/* No faster than slow start. */
		if (friendly > tp->snd_cwnd)
			tp->snd_cwnd += at_most(friendly - tp->snd_cwnd, acked);
	}
}

static __always_inline u32 reduce(struct tcp_sock *tp, struct state *state)
{
	u64 used = (u64)tp->snd_cwnd * ONE;
	u64 kept = at_least(used * KEPT_X5 / 5, 2 * ONE);

	/* Who loses before its last maximum aims lower. */
	state->w_max = parameters.fast_convergence && used < state->w_max ? used * 9 / 10 : used;
	state->unused_us = 0;
	begin_epoch(state, kept);
	return kept / ONE;
}

static __always_inline void measure(struct tcp_sock *tp, struct state *state, const struct ack_sample *sample)
{
	if (BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)tp, icsk_ca_state) == LOSS)
		state->epoch_us = 0; /* it begins where the slow start after a timeout ends */
	else if (!in_recovery(tp) && !window_is_used(tp) && !state->unused_us)
		state->unused_us = now_us();
}

CONTROL("cubic_2005");
