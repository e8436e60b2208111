"""Predict, simulate, emulate and observe how transport protocols share a bottleneck.

>>> import parshall as ps
>>> scenario = ps.Scenario(
...     duration="2 s",
...     bottleneck={"rate": "5 Mbit/s"},
...     flows=[{"rtt": "50 ms"}],
... )
>>> run = ps.run(scenario)
>>> run.flows["goodput_bps"].len()
1

What there is to use stands in ``__init__.pyi``, here and in packages below. It is imported when it is asked for, so
that the command line starts fast (SPEC 1 of Scientific Python).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
