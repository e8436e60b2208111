"""Sections of an observation's page: how a flow's throughput varies, and how arrivals depend on each other.

| module | what |
| --- | --- |
| `spectra` | how a flow's throughput varies, against the chain fitted on its p(w) |
| `arrivals`, `arrivals_section` | what arrived when, and whether it is long-range dependent |
"""
