"""The records of torch's operators, one for an operator, by what they do.

Each module holds records in `OPERATORS`; none of them is listed anywhere.
"""
