"""What a type of Arrow's asks of a value, said for people."""

# By the start of the type's own name; timestamps before times.
_WORDS = {
    "double": "a number",
    "float": "a number",
    "halffloat": "a number",
    "decimal": "a number",
    "int": "a whole number",
    "uint": "a whole number of zero or more",
    "bool": "true or false",
    "date": "a date such as 2020-03-25",
    "timestamp": "a date and time such as 2020-03-25 14:30:00",
    "time": "a time such as 14:30:00",
    "null": "missing",
}


def type_in_words(of_type: object) -> str:
    """What a value must be to be of a type: 'a number'; the type's name where there are no words.

    Example:
        >>> type_in_words("double")
        'a number'
    """
    said = str(of_type)
    words = (words for start, words in _WORDS.items() if said.startswith(start))
    return next(words, f"of type {said}")
