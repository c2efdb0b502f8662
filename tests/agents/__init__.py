"""Tests of what agent hosts call."""
