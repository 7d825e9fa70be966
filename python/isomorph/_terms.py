"""Terms of RDF as values of Python."""

from __future__ import annotations

import datetime
import decimal
from typing import Any, NamedTuple

from ._options import usage
from ._parameters import plain

__all__ = ["Literal", "Object"]

_XSD = "http://www.w3.org/2001/XMLSchema#"


class Literal(NamedTuple):
    """A literal of RDF: ``Literal("tea")``, ``Literal("Tee", language="de")``, ``Literal("5", datatype="http://…#byte")``."""

    value: str
    datatype: str | None = None
    language: str | None = None


Object = str | Literal | bool | int | float | decimal.Decimal | datetime.date | datetime.datetime
"""An IRI or a blank node as text; a literal; or a value of Python, which becomes a literal."""


def object_of(value: Any) -> Any:
    """An object for the library: the text of an IRI or blank node, or lexical form, datatype and language of a literal."""
    if isinstance(value, Literal):
        if value.language is not None:
            if value.datatype is not None:
                raise usage("a literal has a datatype or a language, not both")
            return (value.value, "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", value.language)
        return (value.value, value.datatype or f"{_XSD}string", None)
    given, value = value, plain("an object", value)
    if isinstance(value, str):
        value = str.__str__(value)
        if ":" not in value and not value.startswith("<<("):
            raise usage(f"{value!r} is not an IRI", f"isomorph.Literal({value!r})    a text")
        return value
    if isinstance(value, bool):
        return ("true" if value else "false", f"{_XSD}boolean", None)
    if isinstance(value, int):
        return (int.__repr__(value), f"{_XSD}integer", None)
    if isinstance(value, float):
        special = {float("inf"): "INF", float("-inf"): "-INF"}
        return ("NaN" if value != value else special.get(value, float.__repr__(value)), f"{_XSD}double", None)
    if isinstance(value, decimal.Decimal):
        if not value.is_finite():
            raise usage(f"{value} is not a decimal of RDF")
        return (f"{value:f}", f"{_XSD}decimal", None)
    if isinstance(value, datetime.datetime):
        return (value.isoformat(), f"{_XSD}dateTime", None)
    if isinstance(value, datetime.date):
        return (value.isoformat(), f"{_XSD}date", None)
    raise usage(f"an object is an IRI, a Literal, a number, a bool or a date; found {type(given).__name__}")


def written(name: str, value: Any) -> str:
    """A term as SPARQL writes it."""
    term = object_of(value)
    if isinstance(term, str):
        if term.startswith(("_:", "<<")):
            raise usage(f"parameter {name} is {term}", "an IRI, a Literal, a number, a bool or a date")
        return f"<{term}>"
    lexical, datatype, language = term
    for character, escape in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        lexical = lexical.replace(character, escape)
    return f'"{lexical}"@{language}' if language is not None else f'"{lexical}"^^<{datatype}>'
