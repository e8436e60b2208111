"""Scenarios with the kernel's own TCP at both ends of their flows (docs/emulation.md).

| module | what |
| --- | --- |
| `emulating` | `emulate`: a scenario becomes a run of real hosts |
| `kernel` | what of a scenario a kernel can do, and what this one has |
| `child` | the process of a repetition, which enters namespaces of its own |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
