from . import controls as controls
from .scenario import Bottleneck as Bottleneck
from .scenario import FlowGroup as FlowGroup
from .scenario import NamedLink as NamedLink
from .scenario import Probes as Probes
from .scenario import ReverseLink as ReverseLink
from .scenario import Scenario as Scenario
