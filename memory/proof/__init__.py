"""Whether memory is still true: what it says is compared with the repository and with itself, without a model."""
