"""Choosing a network's parameters: from what is asked of it to what to set, confirmed by simulation.

| module | what |
| --- | --- |
| `queueing` | a queue of a scenario, tried, and what was asked of it judged |
| `buffer` | the smallest drop-tail buffer for what is asked |
| `aqm` | which active queue management keeps what is asked |
| `repetitions` | how many an interval needs |
| `judging` | what is asked, and the verdict |
| `tc` | a queue as commands for a Linux router |
| `network_page` | these answers as pages |
| `transfer` | how long a transfer takes |
| `rules`, `rules_found`, `rules_answer`, `rules_page` | which of Linux's rules makes the difference |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
