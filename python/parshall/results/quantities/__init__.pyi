from .definition import Quantity as Quantity
from .own import quantity as quantity
from .tables import Tables as Tables
