"""The languages whose definitions are found: which parser, and what in its trees defines a name."""

from __future__ import annotations

from typing import Final, NamedTuple


class Language(NamedTuple):
    """module, entry: where the grammar is. query: captures `function`, `type`, `variable`, and `scope`, which gives
    others a name and is no definition. names: the fields that hold a name. wrappers: statements that may be nothing but
    a definition. block: the node by which indentation speaks, "" where braces do.
    """

    module: str
    entry: str
    query: str
    wrappers: frozenset[str]
    names: tuple[str, ...] = ("name",)
    block: str = ""


_PYTHON: Final = Language(
    "tree_sitter_python", "language",
    """
    (function_definition) @function
    (class_definition) @type
    (assignment left: (identifier)) @variable
    (type_alias_statement) @variable
    """,
    frozenset({"decorated_definition", "expression_statement"}), ("name", "left"), "block",
)  # fmt: skip

_SCRIPT: Final = """
    (function_declaration) @function
    (generator_function_declaration) @function
    (method_definition) @function
    (class_declaration) @type
    (variable_declarator name: (identifier) value: [(arrow_function) (function_expression)]) @function
    (variable_declarator name: (identifier) value: (_) @_value (#not-match? @_value "=>|^(async )?function")) @variable
    (variable_declarator name: (identifier) !value) @variable
    """
_STATEMENTS: Final = frozenset({"export_statement", "lexical_declaration", "variable_declaration"})
_JAVASCRIPT: Final = Language(
    "tree_sitter_javascript", "language", f"{_SCRIPT} (field_definition) @variable", _STATEMENTS, ("name", "property")
)
_TYPED: Final = f"""{_SCRIPT}
    (abstract_class_declaration) @type
    (interface_declaration) @type
    (enum_declaration) @type
    (type_alias_declaration) @type
    (internal_module) @type
    (public_field_definition) @variable
    """
_TYPESCRIPT: Final = Language("tree_sitter_typescript", "language_typescript", _TYPED, _STATEMENTS)
_TSX: Final = Language("tree_sitter_typescript", "language_tsx", _TYPED, _STATEMENTS)

_GO: Final = Language(
    "tree_sitter_go", "language",
    """
    (function_declaration) @function
    (method_declaration) @function
    (type_spec) @type
    (const_spec) @variable
    (var_spec) @variable
    """,
    frozenset({"type_declaration", "const_declaration", "var_declaration"}),
)  # fmt: skip

_RUST: Final = Language(
    "tree_sitter_rust", "language",
    """
    (function_item) @function
    (function_signature_item) @function
    (macro_definition) @function
    (struct_item) @type
    (enum_item) @type
    (union_item) @type
    (trait_item) @type
    (mod_item) @type
    (impl_item) @scope
    (const_item) @variable
    (static_item) @variable
    (type_item) @type
    """,
    frozenset(), ("name", "type"),
)  # fmt: skip

_JAVA: Final = Language(
    "tree_sitter_java", "language",
    """
    (method_declaration) @function
    (constructor_declaration) @function
    (class_declaration) @type
    (interface_declaration) @type
    (enum_declaration) @type
    (record_declaration) @type
    (annotation_type_declaration) @type
    (field_declaration (variable_declarator) @variable)
    """,
    frozenset({"field_declaration"}),
)  # fmt: skip

_C: Final = Language(
    "tree_sitter_c", "language",
    """
    (function_definition) @function
    (preproc_function_def) @function
    (struct_specifier name: (_) body: (_)) @type
    (union_specifier name: (_) body: (_)) @type
    (enum_specifier name: (_) body: (_)) @type
    (type_definition) @type
    (preproc_def) @variable
    (init_declarator) @variable
    """,
    frozenset({"declaration"}), ("name", "declarator"),
)  # fmt: skip

# By the end of a file's name.
LANGUAGES: Final[dict[str, Language]] = {
    "py": _PYTHON,
    "pyi": _PYTHON,
    "js": _JAVASCRIPT,
    "cjs": _JAVASCRIPT,
    "mjs": _JAVASCRIPT,
    "jsx": _JAVASCRIPT,
    "ts": _TYPESCRIPT,
    "cts": _TYPESCRIPT,
    "mts": _TYPESCRIPT,
    "tsx": _TSX,
    "go": _GO,
    "rs": _RUST,
    "java": _JAVA,
    "c": _C,
    "h": _C,
}
