"""Foreign code behind a wall: a process of its own for what calls a congestion control from outside.

A class in Python or a library in C may loop, end its process, smash its memory, or take that of the machine. None of
this may reach the process of whoever asked for a run. So the simulator runs beside the control in a process of its own
(`child`), writes the tables of the run into its directory as it would here, and answers with the run's totals. The
process that asked waits (`process`), reads from a shared page (`page`) where the other is, and ends it when the control
does not answer, or when the run is interrupted. The other ends itself when the process that asked is gone, or when it
has taken too much memory (``crates/foreign``).

**How the process is started.** With the interpreter, and not by `os.fork`:

* a fork of a process with threads has only one of them. A notebook, a worker of Dask and everything that has read a
  table with Polars have threads; a control with PyTorch would wait for ever for those of OpenMP that its parent had;
* a fork inherits open connections, and gigabytes of a notebook, which would count as its memory;
* `multiprocessing` imports the script again, which must then have ``if __name__ == "__main__"``.

An interpreter with the simulator takes 0.1 s. The repetitions of a run, and the runs of a worker, use a process again;
one that failed is never used again, nor one that has taken half of the memory that it may.

**How the code reaches it.** Files are read by the parent, which never runs them: the process is sent their very bytes,
and says what the control needs (`code`). A class that the parent alone has, in a script or a notebook, is sent by
cloudpickle as it is at that moment, with what it refers to; a class that cannot be sent is refused with the reason.
What a control changes outside of itself, as a list of the notebook, it changes in that process only.
"""
