"""Results of any instrument: tables with the units of their columns, where they come from, and quantities of them.

| module | what |
| --- | --- |
| `result` | `Result`: what an instrument gave |
| `schema` | the tables' columns, their units and descriptions |
| `validity` | how far an emulation can be believed |
| `storage` | the one directory format; nothing in it pretends to be complete |
| `about` | versions and host |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
