from .execute import Progress as Progress
from .execute import run as run
from .result import Run as Run
