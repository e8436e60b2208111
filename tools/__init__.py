"""Tools of the checkout, which no distribution has."""
