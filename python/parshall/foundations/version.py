"""The version of the package that is installed."""

from importlib.metadata import PackageNotFoundError, version

from parshall.foundations.errors import InputError

try:
    __version__ = version("parshall")
except PackageNotFoundError:
    raise InputError(
        "this copy of Parshall is not installed, so that its version is not known; accepted: one that `pip install` "
        "put there"
    ) from None
