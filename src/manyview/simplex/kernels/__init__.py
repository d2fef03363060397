"""Compiled row solvers, one method a file. Importing one compiles nothing; its first call does."""
