"""A local web application: a scenario that is simulated again while one changes it, and results to look at.

| module | what |
| --- | --- |
| `server`, `application` | the server and its routes |
| `secret`, `guard`, `peer` | who may ask: the secret of the address, requests that are refused, whose a connection is |
| `connection`, `clients` | clients that keep the server waiting, and those that go away |
| `workers`, `work` | the processes that do all that takes time: their turns and limits; their tasks |
| `subject`, `opening`, `results` | what is explored, found out of a place; the results of a folder or a store |
| `knobs`, `preview` | the fields of a scenario; a simulation that fits into the time of a drag |
| `pages`, `lists`, `drawing`, `assets` | the page of a scenario, those over results, figures in them |

The server imports neither models nor tables: it answers as soon as it listens, whatever its workers do. It is bound to
the loopback interface, and answers whoever has the secret of its address. Of a request only short texts for known
fields and names of listed results are taken.
"""
