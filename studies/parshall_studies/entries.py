"""Rows of the catalog of models, of those that studies bring: what users read about each."""

from parshall.analysis.models.entry import ModelEntry

_LOISEAU = "Loiseau et al., Performance Evaluation 67, 2010"
_SCALES = "scales of ten loss cycles and more; windows at which timeouts are rare"

LARGE_DEVIATIONS = ModelEntry(
    "large_deviations",
    "variability",
    summary="how much throughput varies at each time scale: spectrum, range, probabilities, buffers",
    formula="f(alpha) = inf_q Lambda(q) - alpha q, Lambda(q) = log rho(exp(q j) P_ij)",
    reference=_LOISEAU,
    validity=_SCALES,
    controls=("reno",),
)
VARIANTS = ModelEntry(
    "variants",
    "variability",
    summary="how much the throughput of BIC, HighSpeed, CUBIC and Scalable varies, from loss to loss",
    formula="spectral radius of K(q, nu) = 1 -> Lambda(q) -> f(alpha)",
    reference=f"{_LOISEAU}, §5.3 (future work there)",
    validity=_SCALES,
    controls=("bic", "highspeed", "cubic", "scalable"),
)
COMPETING = ModelEntry(
    "competing",
    "variability",
    summary="two competing flows: Jain's index of their throughput at each time scale",
    formula="J(n) = 1/(1 + Var(D_n)/E[W_1 + W_2]^2)",
    reference=f"{_LOISEAU}, §6 (future work there)",
    validity="equal RTTs, windows up to 400 packets; losses of both flows independent given the windows",
    controls=("reno",),
)
DIFFSERV = ModelEntry(
    "diffserv",
    "network",
    summary="TCP sessions with token buckets, datagrams and RIO routers: rates, losses by class, queues",
    formula="T -> pi(i) = pi(0) (T/C)^i prod(1 - p(j)) -> p_in, p_out, q -> W -> T",
    reference="Malouch & Liu, INRIA RR-4469, 2002",
    validity="tens of sessions and more, in congestion avoidance, with windows of 3 packets and more; "
    "thresholds on the queue as it is, not averaged",
    controls=("reno",),
)
