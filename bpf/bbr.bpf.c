/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The kernel's BBR, recorded: each call goes to the kernel's own function. */
#include "recorder.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct bbr {
	u32 min_rtt_us;
	struct minmax bw;
	u32 rtt_cnt;
	u32 mode : 3;
	u32 packet_conservation : 1;
	u32 idle_restart : 1;
	u32 lt_use_bw : 1;
	u32 lt_bw;
	u32 pacing_gain : 10;
	u32 cwnd_gain : 10;
	u32 full_bw_reached : 1;
	u32 full_bw_cnt : 2;
	u32 cycle_idx : 3;
	u32 prior_cwnd;
	u32 full_bw;
	u16 extra_acked[2];
};
#pragma clang attribute pop

extern void bbr_init(struct sock *sk) __ksym;
extern void bbr_main(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs) __ksym;
extern u32 bbr_sndbuf_expand(struct sock *sk) __ksym;
extern u32 bbr_undo_cwnd(struct sock *sk) __ksym;
extern void bbr_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym;
extern u32 bbr_ssthresh(struct sock *sk) __ksym;
extern u32 bbr_min_tso_segs(struct sock *sk) __ksym;
extern void bbr_set_state(struct sock *sk, u8 new_state) __ksym;

INNER_NAMES("mode,bw,min_rtt_us,rtt_cnt,pacing_gain,cwnd_gain,full_bw,full_bw_reached,full_bw_cnt,cycle_idx,packet_conservation,"
	    "prior_cwnd,idle_restart,lt_use_bw,lt_bw,extra_acked");

static __always_inline void read_inner(struct sock *sk, u32 *inner)
{
	const struct bbr *bbr = ca_priv(sk);

	inner[0] = BPF_CORE_READ_BITFIELD(bbr, mode);
	inner[1] = bbr->bw.s[0].v; /* packets/us, times 2^24 */
	inner[2] = bbr->min_rtt_us;
	inner[3] = bbr->rtt_cnt;
	inner[4] = BPF_CORE_READ_BITFIELD(bbr, pacing_gain); /* times 256 */
	inner[5] = BPF_CORE_READ_BITFIELD(bbr, cwnd_gain);   /* times 256 */
	inner[6] = bbr->full_bw;
	inner[7] = BPF_CORE_READ_BITFIELD(bbr, full_bw_reached);
	inner[8] = BPF_CORE_READ_BITFIELD(bbr, full_bw_cnt);
	inner[9] = BPF_CORE_READ_BITFIELD(bbr, cycle_idx);
	inner[10] = BPF_CORE_READ_BITFIELD(bbr, packet_conservation);
	inner[11] = bbr->prior_cwnd;
	inner[12] = BPF_CORE_READ_BITFIELD(bbr, idle_restart);
	inner[13] = BPF_CORE_READ_BITFIELD(bbr, lt_use_bw);
	inner[14] = bbr->lt_bw;
	inner[15] = bbr->extra_acked[0] > bbr->extra_acked[1] ? bbr->extra_acked[0] : bbr->extra_acked[1];
}

SEC("struct_ops") void BPF_PROG(bbr1_init, struct sock *sk) { RECORD(sk, INIT, 0, bbr_init(sk)); }

SEC("struct_ops") void BPF_PROG(bbr1_release, struct sock *sk) { RECORD(sk, RELEASE, 0, ); }

SEC("struct_ops") u32 BPF_PROG(bbr1_ssthresh, struct sock *sk) { return RECORD_VALUE(sk, SSTHRESH, bbr_ssthresh(sk)); }

SEC("struct_ops") void BPF_PROG(bbr1_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	RECORD_CONG_CONTROL(sk, ack, rs, bbr_main(sk, ack, flag, rs));
}

SEC("struct_ops") void BPF_PROG(bbr1_set_state, struct sock *sk, u8 state)
{
	RECORD(sk, SET_STATE, state, bbr_set_state(sk, state));
}

SEC("struct_ops") void BPF_PROG(bbr1_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	RECORD(sk, CWND_EVENT, event, bbr_cwnd_event(sk, event));
}

SEC("struct_ops") void BPF_PROG(bbr1_in_ack_event, struct sock *sk, u32 flags) { RECORD(sk, IN_ACK_EVENT, flags, ); }

SEC("struct_ops") u32 BPF_PROG(bbr1_undo_cwnd, struct sock *sk) { return RECORD_VALUE(sk, UNDO_CWND, bbr_undo_cwnd(sk)); }

SEC("struct_ops") u32 BPF_PROG(bbr1_min_tso_segs, struct sock *sk)
{
	return RECORD_VALUE(sk, MIN_TSO_SEGS, bbr_min_tso_segs(sk));
}

SEC("struct_ops") u32 BPF_PROG(bbr1_sndbuf_expand, struct sock *sk)
{
	return RECORD_VALUE(sk, SNDBUF_EXPAND, bbr_sndbuf_expand(sk));
}

SEC(".struct_ops") struct tcp_congestion_ops control = {
	.name = "bbr",
	.init = (void *)bbr1_init,
	.release = (void *)bbr1_release,
	.ssthresh = (void *)bbr1_ssthresh,
	.cong_control = (void *)bbr1_cong_control,
	.set_state = (void *)bbr1_set_state,
	.cwnd_event = (void *)bbr1_cwnd_event,
	.in_ack_event = (void *)bbr1_in_ack_event,
	.undo_cwnd = (void *)bbr1_undo_cwnd,
	.min_tso_segs = (void *)bbr1_min_tso_segs,
	.sndbuf_expand = (void *)bbr1_sndbuf_expand,
};
