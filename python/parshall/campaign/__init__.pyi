from .plan import Plan as Plan
from .result import Sweep as Sweep
from .runner import sweep as sweep
from .store import Store as Store
