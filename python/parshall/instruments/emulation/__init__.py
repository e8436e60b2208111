"""Scenarios with the kernel's own TCP at both ends of their flows (docs/emulation.md).

| module | what |
| --- | --- |
| `emulating` | `emulate`: a scenario becomes a run of real hosts |
| `kernel` | what of a scenario a kernel can do, and what this one has |
| `capacity` | what this machine can emulate, as it was measured, and what is beyond that |
| `measuring` | `measure`: what this machine can emulate |
| `programs` | `run_programs`: programs of your own in a scenario's network |
| `peers` | the processes that have a turn or wait for one |
| `turns` | waiting for one's turn |
| `process` | a repetition in a process of its own, when it is its turn |
| `child` | the process of a repetition, which enters namespaces of its own |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
