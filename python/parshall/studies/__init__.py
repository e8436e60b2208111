"""Studies: each regenerates the tables and figures of a publication, and compares with what it printed.

A study is a package of this folder with its parts as ``PARTS`` (`study.Part`), and a line in `catalog.STUDIES`.
"""
