"""Forms for the user: their schemas, and the check of the values, which both sides make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic_core import CoreSchema, SchemaError, SchemaValidator, core_schema, to_json

from acp_bindings import v1


def form_schema(form: type[BaseModel] | v1.ElicitationSchema | Mapping[str, Any]) -> v1.ElicitationSchema:
    """Return the schema of a form, for the client.

    Raises:
        ValueError: if it isn't a form, or has a field that the protocol's forms can't have.
    """
    schema: Any = _schema_of_model(form) if isinstance(form, type) else form
    if isinstance(schema, Mapping) and (kind := cast("Any", schema).get("type", "object")) != "object":
        raise ValueError(f"A form must have the type 'object', not {kind!r}.")
    try:
        fields = v1.ElicitationSchema.model_validate(schema)
    except ValidationError as error:
        for problem in error.errors():
            if problem["loc"][0] == "properties" and len(problem["loc"]) > 1:
                raise _unsupported_field(problem["loc"][1]) from None
        raise ValueError(f"This is not the schema of a form: {error}") from None
    for name, field in fields.properties.items():
        try:
            SchemaValidator(_validator(field, name))
        except SchemaError as error:  # pydantic's regular expressions don't support its pattern
            raise ValueError(f"The field {name!r} of the form can't be checked: {error}") from None
    return fields


def read_values(form: type[BaseModel] | v1.ElicitationSchema | Mapping[str, Any], values: Mapping[str, Any]) -> Any:
    """Return the values of a form: an instance of the model if the form is a model, otherwise a dict.

    Raises:
        ValidationError: if they don't fit the form.
    """
    if isinstance(form, type):
        return form.model_validate_json(to_json(values))
    schema = form_schema(form)
    required = schema.required or ()
    fields = {
        name: core_schema.typed_dict_field(_validator(field, name), required=name in required)
        for name, field in schema.properties.items()
    }
    return SchemaValidator(core_schema.typed_dict_schema(fields)).validate_python(dict(values))


def form_defaults(form: v1.ElicitationSchema) -> dict[str, Any]:
    """Return the values that a form has when it is shown: the defaults of its fields, by name."""
    fields = _of_v1(form).properties.items()
    known = {name: field for name, field in fields if not isinstance(field, v1.ElicitationPropertySchemaOther)}
    return {name: field.default for name, field in known.items() if field.default is not None}


def form_problems(form: v1.ElicitationSchema, values: Mapping[str, Any]) -> dict[str, str]:
    """Return what is wrong with the values that a user has entered, by the names of the fields.

    For example, in a function for `Elicitations(fill_in=...)`:

        values = form_defaults(request.requested_schema)
        values = await self.show(request.message, values, problems={})
        while problems := form_problems(request.requested_schema, values):
            values = await self.show(request.message, values, problems)
        return values

    Numbers and booleans may be entered as strings. Empty fields are missing or None. Fields of an unknown kind, or with
    a pattern that can't be checked here, are not checked.
    """
    return check_entered(form, values)[1]


def check_entered(form: v1.ElicitationSchema, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values of a form to send, and what is wrong with others, by the names of the fields."""
    schema = _of_v1(form)
    checked: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for name, field in schema.properties.items():
        value = values.get(name)
        try:
            if value is not None:
                checked[name] = SchemaValidator(_validator(field, name)).validate_python(value)
            elif name in (schema.required or ()):
                problems[name] = "Field required"
        except ValidationError as error:
            problems[name] = "; ".join(problem["msg"] for problem in error.errors(include_input=False))
        except (ValueError, SchemaError):  # it can't be checked
            checked[name] = value
    return checked, problems


def _of_v1(form: Any) -> v1.ElicitationSchema:
    """Return a form of any profile as one of version 1."""
    return form if isinstance(form, v1.ElicitationSchema) else v1.ElicitationSchema.model_validate(form.model_dump())


def _schema_of_model(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of a model without references and without null, which forms don't have."""
    try:
        schema = model.model_json_schema()
    except PydanticInvalidForJsonSchema as error:
        raise ValueError(f"The form {model.__name__} has a field that can't be in a form: {error.message}") from None
    definitions = schema.pop("$defs", {})
    schema = _resolve(schema, definitions)  # a model that refers to itself is a reference
    fields = {name: _resolve(field, definitions) for name, field in schema.get("properties", {}).items()}
    for name, field in fields.items():
        if "enum" in field and field.get("type") != "string":
            raise _unsupported_field(name)
    return {**schema, "properties": fields}


def _resolve(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    resolved = dict(field)
    choices = [choice for choice in resolved.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        del resolved["anyOf"]
        resolved = {**choices[0], **resolved}
    if "$ref" in resolved:
        definition = definitions[resolved.pop("$ref").rpartition("/")[2]]
        # Its title and description are those of a class, not of this field.
        inherited = {key: value for key, value in definition.items() if key not in ("title", "description")}
        resolved = {**inherited, **resolved}
    if "const" in resolved:
        resolved["enum"] = [resolved.pop("const")]
    if "items" in resolved:
        resolved["items"] = _resolve(resolved["items"], definitions)
    if resolved.get("default", ...) is None:
        del resolved["default"]
    return resolved


def _validator(field: object, name: str) -> CoreSchema:
    """Return the schema that checks the value of a field."""
    schema: CoreSchema | None = None
    match field:
        case v1.ElicitationPropertySchemaString():
            schema = _text_validator(field)
        case v1.ElicitationPropertySchemaNumber(minimum=low, maximum=high):
            schema = core_schema.float_schema(allow_inf_nan=False, ge=low, le=high)
        case v1.ElicitationPropertySchemaInteger(minimum=low, maximum=high):
            schema = core_schema.int_schema(ge=low, le=high)
        case v1.ElicitationPropertySchemaBoolean():
            schema = core_schema.bool_schema()
        case v1.ElicitationPropertySchemaArray():
            schema = _list_validator(field)
        case _:
            pass
    if schema is None:
        raise _unsupported_field(name)
    return schema


def _text_validator(field: v1.ElicitationPropertySchemaString) -> CoreSchema:
    if field.enum is not None:
        return core_schema.literal_schema([*field.enum])
    if field.one_of is not None:
        return core_schema.literal_schema([option.const for option in field.one_of])
    return core_schema.str_schema(min_length=field.min_length, max_length=field.max_length, pattern=field.pattern)


def _list_validator(field: v1.ElicitationPropertySchemaArray) -> CoreSchema | None:
    match field.items:
        case v1.MultiSelectItemsString(enum=choices):
            pass
        case v1.TitledMultiSelectItems(any_of=options):
            choices = [option.const for option in options]
        case _:
            return None
    choice = core_schema.literal_schema([*choices])
    return core_schema.list_schema(choice, min_length=field.min_items, max_length=field.max_items)


def _unsupported_field(name: object) -> ValueError:
    return ValueError(
        f"The field {name!r} can't be in a form. Fields are texts, numbers, booleans, choices between texts, and lists "
        "of such choices."
    )
