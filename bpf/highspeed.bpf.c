/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* HighSpeed TCP (RFC 3649): increase and decrease that depend on the window, computed from the response function of its section 5. */
#include "control.h"

struct state {
	u32 window;       /* packets, for which the others were computed */
	u32 increase;     /* a(w), packets a round trip, of 1/1024 */
	u32 decrease;     /* b(w), of 1/1024 */
};

enum {
	LOW_WINDOW = 38,
	LOG_LOW = 5374,    /* log2(38), of 1/1024 */
	LOG_RANGE = 11360, /* log2(83000 / 38) */
	HALF = 512,        /* b(38) */
	HIGH_DECREASE = 102, /* b(83000) = 0.1 */
	LOG_SCALE = 6471,  /* log2(0.078 * 1024), so that a(w) is of 1/1024 */
};

INNER_NAMES("window,increase,decrease");

static __always_inline void read_inner(struct sock *sk, u32 *inner)
{
	const struct state *state = ca_priv(sk);

	inner[0] = state->window;
	inner[1] = state->increase;
	inner[2] = state->decrease;
}

/* log2(x), of 1/1024: the bits behind the point come from squaring. It and the next are functions of their own, without branches at each bit,
 * or the verifier would follow each of their ways through all that comes after. */
__attribute__((noinline)) u32 log2_x1024(u32 x)
{
	u64 mantissa = at_least(x, 1);
	u32 result = 31;

	for (int bit = 0; bit < 31; bit++) {
		if (mantissa >> 31)
			break;
		mantissa <<= 1;
		result--;
	}
	result <<= 10;
	for (int bit = 9; bit >= 0; bit--) {
		u32 over;

		mantissa = mantissa * mantissa >> 31;
		over = mantissa >> 32 & 1; /* whether the square is 2 or more */
		mantissa >>= over;
		result += over << bit;
	}
	return result;
}

/* 2^(y/1024), of y below 31 * 1024. */
__attribute__((noinline)) u32 exp2_x1024(u32 y)
{
	/* 2^(1/2), 2^(1/4), and so on, less 1, of 1/65536. */
	const u32 roots[10] = { 27146, 12400, 5932, 2902, 1435, 714, 356, 178, 89, 44 };
	u64 result = 1 << 16;

	for (int bit = 0; bit < 10; bit++)
		result = result * ((1 << 16) + (y >> (9 - bit) & 1) * roots[bit]) >> 16;
	return result << (y >> 10 & 31) >> 16;
}

static __always_inline void renew(struct state *state, u32 window)
{
	u32 log;

	if (state->window == window)
		return;
	state->window = window;
	if (window <= LOW_WINDOW) {
		state->increase = ONE;
		state->decrease = HALF;
		return;
	}
	log = log2_x1024(window);
	state->decrease = HALF - (HALF - HIGH_DECREASE) * at_most(log - LOG_LOW, LOG_RANGE) / LOG_RANGE;
	/* a(w) = w^2 p(w) 2 b / (2 - b) with p(w) = 0.078 / w^1.2 */
	state->increase = (u64)exp2_x1024(LOG_SCALE + log * 4 / 5) * 2 * state->decrease / (2 * ONE - state->decrease);
	state->increase = at_least(state->increase, ONE);
}

static __always_inline void start(struct tcp_sock *tp, struct state *state)
{
	state->window = 0;
	renew(state, tp->snd_cwnd);
}

static __always_inline void grow(struct tcp_sock *tp, struct state *state, u32 acked)
{
	acked = slow_start(tp, acked);
	if (!acked)
		return;
	renew(state, tp->snd_cwnd);
	add_each_round(tp, state->increase, acked);
}

static __always_inline u32 reduce(struct tcp_sock *tp, struct state *state)
{
	renew(state, tp->snd_cwnd);
	return tp->snd_cwnd - (u64)tp->snd_cwnd * state->decrease / ONE;
}

static __always_inline void measure(struct tcp_sock *tp, struct state *state, const struct ack_sample *sample)
{
}

CONTROL("highspeed");
