"""Results of any instrument, and the quantities that are computed of them.

| part | what |
| --- | --- |
| `records` | `Result`, its tables and columns, the one directory format |
| `quantities` | the catalogue of quantities: key, label, unit, direction and computation |
| `loading` | `load`: a result or a store, read again |
"""
