"""A live class: the teacher's page switches, every browser in the room follows."""
