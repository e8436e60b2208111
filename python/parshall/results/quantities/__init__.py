"""Quantities: what is measured of record tables. Name, label, unit, direction and computation stand in one place.

| module | what |
| --- | --- |
| `catalog`, `naming` | the one list; what names mean |
| `goodput`, `loss`, `window`, `queue`, `delay`, `fairness`, `completion` | the families |
| `harm` | what a flow loses to a neighbour of another control |
| `measuring` | quantities of tables |
| `own` | those of users and plug-ins |
| `tables`, `definition`, `computing` | record tables; what a quantity is; what families share |
| `digest` | of what computes a quantity |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
