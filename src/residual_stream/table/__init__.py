"""What a browser is sent of a lesson: the form in which the model leaves Python."""
