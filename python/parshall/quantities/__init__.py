"""Quantities: what is measured of record tables. Name, label, unit, direction and computation stand in one place.

| module | what |
| --- | --- |
| `catalog` | the one list, and what names mean |
| `goodput`, `loss`, `window`, `queue`, `delay`, `fairness`, `completion` | the families |
| `transport` | those of the transport benchmark, from files |
| `measuring` | quantities of tables |
| `own` | those of users and plug-ins |
| `tables`, `definition`, `computing` | record tables; what a quantity is; what families share |
| `digest` | of what computes a quantity |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from parshall.lazily import named

if TYPE_CHECKING:
    from parshall.quantities.definition import Quantity
    from parshall.quantities.own import quantity
    from parshall.quantities.tables import Tables

__all__ = ["Quantity", "Tables", "quantity"]

__getattr__ = named(__name__, {"Quantity": "definition", "Tables": "tables", "quantity": "own"})
