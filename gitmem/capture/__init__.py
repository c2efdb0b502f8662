"""Host transcripts in, turns out: no git, no clock, no environment."""
