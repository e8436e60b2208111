"""Suites: what a document asks of a congestion control or a queue (`parshall.studies.suite`).

A suite is a module of this folder with a function ``parts``, and a line in `parshall.studies.catalog.SUITES`.
"""
