from . import control_check as control_check
