"""The experiments of a lesson: predict, run, see."""
