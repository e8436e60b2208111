"""The joint design: the signs of Figs 1, 6 to 10, 12 and 13 in settings of all that is unsaid.

Single values are left to the page: Tables II and III and Fig. 11 are of runs of 2000 s and more.
"""

from parshall.studies.joint import Joint, Judged, judge
from parshall_studies.multiple_time_scale import fairness, metacontrol, rtt, setting, tails, thresholds
from parshall_studies.multiple_time_scale.setting import Setting

ARTEFACTS = (
    tails.FIG1,
    thresholds.FIG6,
    thresholds.FIG7,
    rtt.FIGS8_9,
    tails.FIG10,
    metacontrol.FIGS11_12,
    fairness.TABLE3,
)
JOINT = Joint(ARTEFACTS, setting.OPEN, setting.joint_base)


def judge_all(one: Setting) -> Judged:
    """Every claim in a setting."""
    return judge(ARTEFACTS, one)
