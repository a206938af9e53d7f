"""Requests and what becomes of them, compiled."""
