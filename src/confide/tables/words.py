"""Types and values of a table, in words for people."""

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
    name = str(of_type)
    words = (words for start, words in _WORDS.items() if name.startswith(start))
    return next(words, f"of type {name}")


def reads_as_number(text: str) -> bool:
    """Whether a text is a number as Python writes it."""
    try:
        float(text)
    except ValueError:
        return False
    return True
