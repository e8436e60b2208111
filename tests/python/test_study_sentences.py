"""Sentences of the source that need no packet: what they come to, and that other chains fail them."""

from __future__ import annotations

import numpy as np
import pytest

from parshall_studies.chains import large_deviations as ld
from parshall_studies.chains.loss import Bernoulli
from parshall_studies.chains.markov import chain
from parshall_studies.large_deviations import sentences
from parshall_studies.large_deviations.network import PAPER
from parshall_studies.spectrum import empirical_spectrum

DEPTH = PAPER.within("depth").value


@pytest.mark.slow
def test_sentences_of_sections_2_to_4() -> None:
    found = sentences.sentences("quick")
    by_artefact: dict[str, list[str]] = {}
    for each in found.checks:
        by_artefact.setdefault(each.artefact, []).append(each.verdict)
    # The limit under independent losses is 1.0695; exp(n f) is no probability; nothing leaves 147 packets.
    assert by_artefact["eq1"] == ["not_reproduced"]
    assert set(by_artefact["eq3"] + by_artefact["note4"]) == {"reproduced"}
    # One realisation, and the spread of single ones: no more can be said of these.
    assert set(by_artefact["fig1a"] + by_artefact["fig1b"]) == {"reproduced", "compatible"}
    shares = [each for each in found.checks if each.quantity.startswith("P(")]
    assert [each.verdict for each in shares] == ["not_reproduced"] * 2
    # Exact, by dynamic programming over window and sum: 0.047 and 0.028.
    assert [each.ours for each in shares] == pytest.approx([0.047, 0.028], rel=0.2)
    assert " it is 8 and 12 times the share " in found.sections[0].paragraphs[0]


def test_another_curve_lies_outside_the_band() -> None:
    series = chain(Bernoulli(0.02)).sample(2**17, np.random.default_rng(2))
    seen = empirical_spectrum(series, 100)
    own = ld.spectrum(Bernoulli(0.02)).f(seen.alpha)
    assert sentences.outside(seen, own) < DEPTH
    for other in (own / 2, 1.5 * own, ld.spectrum(Bernoulli(0.03)).f(seen.alpha)):
        assert sentences.outside(seen, other) > DEPTH
