"""The list of studies; each is an entry point of the group ``parshall.studies`` (pyproject.toml)."""

from parshall.studies.study import Study

ITB = Study(
    "itb",
    "ITB: the experiments behind the benchmark",
    "high-speed controls at 10 Gbit/s: starts, RTT, load, reverse traffic, spread (Figs 3 to 10, Tables 1 to 6)",
    "Guillier, Hablot & Vicat-Blanc Primet, INRIA RR-6244, 2007",
    "parshall_studies.itb",
    {"quick": "some 4 CPU minutes"},
)
LARGE_DEVIATIONS = Study(
    "large_deviations",
    "Throughput variability by large deviations",
    "spectra of a Reno flow's throughput at several time scales, theory and simulation (Figs 1 to 9)",
    "Loiseau, Gonçalves, Barral & Vicat-Blanc Primet, Performance Evaluation 67, 2010",
    "parshall_studies.large_deviations",
    {"quick": "some 4 CPU minutes"},
)
MULTIPLE_TIME_SCALE = Study(
    "multiple_time_scale",
    "Multiple time scale TCP",
    "what a slope that follows predicted contention gains under self-similar traffic (Figs 1, 6 to 13)",
    "Park & Tuan, ACM TOMACS 10(2), 2000",
    "parshall_studies.multiple_time_scale",
    {"quick": "5 CPU minutes", "paper": "some 2 CPU hours"},
)
RIO = Study(
    "rio",
    "TCP sessions and RIO routers",
    "TCP sessions with token buckets and a RIO router: fixed point, simulation, and how to set thresholds.",
    "Malouch & Liu, INRIA RR-4469, 2002",
    "parshall_studies.rio",
    {"quick": "33 CPU seconds", "paper": "8 CPU minutes"},
)
TAIL_INDEX = Study(
    "tail_index",
    "The tail index of flow sizes and TCP",
    "what heavy-tailed flow sizes do to loss, delay and throughput, and to the Hurst parameter",
    "Goga, Loiseau & Gonçalves 2011; Park & Tuan 2000, §4",
    "parshall_studies.tail_index",
    {"quick": "some 5 CPU minutes", "paper": "some 75 CPU minutes"},
)

STUDIES = (ITB, LARGE_DEVIATIONS, MULTIPLE_TIME_SCALE, RIO, TAIL_INDEX)
