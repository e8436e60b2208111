from . import score as score
from .benchmark import CaseResult as CaseResult
from .benchmark import Result as Result
from .benchmark import run as run
from .building import Case as Case
from .building import case as case
from .classes import classes as classes
from .scale import SCALES as SCALES
