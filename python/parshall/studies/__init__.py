"""Studies: each regenerates the tables and figures of a publication, and compares with what it printed.

A study is a package of this folder with a function ``checks(scale)``, and a line in `catalog.STUDIES`.
"""
