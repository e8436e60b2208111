from . import models as models
from . import stats as stats
