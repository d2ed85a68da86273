"""From a file to a page a person trusts: what the commands do, as functions.

Read `page.py` for the page of `confide report`.
"""
