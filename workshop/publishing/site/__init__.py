"""Executed notebooks and pages as a site to look at without installing anything: ``make site``."""
