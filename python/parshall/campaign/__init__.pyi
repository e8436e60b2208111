from .execution import Execution as Execution
from .plan import Plan as Plan
from .query import query as query
from .result import Sweep as Sweep
from .runner import sweep as sweep
from .store import Store as Store
