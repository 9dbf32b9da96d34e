// To be filled.
