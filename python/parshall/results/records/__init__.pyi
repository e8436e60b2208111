from .result import Result as Result
from .schema import Column as Column
from .schema import columns as columns
