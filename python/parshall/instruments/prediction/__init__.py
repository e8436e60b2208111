"""The answers of the analytic models to a scenario; the face is `parshall.predict`.

| module | what |
| --- | --- |
| `network` | the resolved scenario as numbers: links, groups of flows, round-trip times |
| `fixed_point` | loss and queueing of full links, at which TCP's demand is their capacity |
| `loads` | loads that are given, whatever the network does |
| `a_priori` | throughput from the scenario alone |
| `at_measured` | throughput at the loss and RTT that a run measured |
| `completion` | completion times of transfers |
| `datagrams` | datagram loads and the queues of Poisson traffic |
| `fair_share` | queues that serve the flows apart |
| `answers`, `result` | what a model answers; all answers as a `parshall.results.records.Result` |
| `stated` | the answers as quantities of the catalogue |
| `tables` | columns of measured tables, whatever the library |
"""
