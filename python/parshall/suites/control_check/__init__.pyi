from .card import Card as Card
from .checking import check as check
