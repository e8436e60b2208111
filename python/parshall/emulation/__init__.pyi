from .emulating import Validity as Validity
from .emulating import emulate as emulate
from .emulating import validity as validity
from .kernel import Abilities as Abilities
from .kernel import abilities as abilities
from .kernel import kernel_name as kernel_name
from .kernel import left_out as left_out
from .programs import run_programs as run_programs
