"""Compiled views."""
