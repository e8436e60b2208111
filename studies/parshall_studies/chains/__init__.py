"""Chains of a congestion window, and how much throughput varies by them (Loiseau 2010 and what follows from it).

| module | what |
| --- | --- |
| `large_deviations` | a chain's spectrum: mean, ranges at each time scale, probabilities of means |
| `markov`, `growth` | chains of Reno's window, and of controls with memory |
| `loss`, `measured_loss`, `persistent_loss` | the probability of a loss by window: given, measured, with memory |
| `loss_epochs`, `variants` | chains from loss to loss, and those of BIC, HighSpeed, CUBIC and Scalable |
| `recovery` | windows while losses are repaired |
| `competing` | two flows that share a queue |
| `legendre`, `skip_free`, `sparse_tilt` | what the spectrum is computed with |
"""
