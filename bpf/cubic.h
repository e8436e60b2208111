/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The kernel's CUBIC: its functions, and what it keeps of a connection. */
#pragma once

#include "recorder.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct bictcp {
	u32 cnt;
	u32 last_max_cwnd;
	u32 last_cwnd;
	u32 last_time;
	u32 bic_origin_point;
	u32 bic_K;
	u32 delay_min;
	u32 epoch_start;
	u32 ack_cnt;
	u32 tcp_cwnd;
	u8 sample_cnt;
	u8 found;
	u32 round_start;
	u32 end_seq;
	u32 last_ack;
	u32 curr_rtt;
};
#pragma clang attribute pop

extern void cubictcp_init(struct sock *sk) __ksym;
extern u32 cubictcp_recalc_ssthresh(struct sock *sk) __ksym;
extern void cubictcp_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym;
extern void cubictcp_state(struct sock *sk, u8 new_state) __ksym;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym;

INNER_NAMES("cnt,last_max_cwnd,last_cwnd,last_time,bic_origin_point,bic_K,delay_min,epoch_start,ack_cnt,tcp_cwnd,sample_cnt,found,"
	    "round_start,end_seq,last_ack,curr_rtt");

static __always_inline void read_inner(struct sock *sk, u32 *inner)
{
	const struct bictcp *ca = ca_priv(sk);

	inner[0] = ca->cnt;
	inner[1] = ca->last_max_cwnd;
	inner[2] = ca->last_cwnd;
	inner[3] = ca->last_time;
	inner[4] = ca->bic_origin_point;
	inner[5] = ca->bic_K;
	inner[6] = ca->delay_min;
	inner[7] = ca->epoch_start;
	inner[8] = ca->ack_cnt;
	inner[9] = ca->tcp_cwnd;
	inner[10] = ca->sample_cnt;
	inner[11] = ca->found;
	inner[12] = ca->round_start;
	inner[13] = ca->end_seq;
	inner[14] = ca->last_ack;
	inner[15] = ca->curr_rtt;
}

#define KERNELS_CUBIC(kernels_name, acked_)                                                                                            \
	WINDOW_CONTROL(kernels_name, cubictcp_init, NOTHING, cubictcp_recalc_ssthresh, cubictcp_cong_avoid, cubictcp_state,            \
		       cubictcp_cwnd_event, acked_)
