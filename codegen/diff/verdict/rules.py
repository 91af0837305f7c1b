"""The rules: what can change, in one sentence each, and the verdicts where they are always the same.

The five letters are the axes of `verdicts.py` in order: old peer, new peer, build, read, implement, each
(B)reaking, (R)isky or (S)afe. A rule without letters has its verdicts computed. Whatever a rule says of the wire is
safe for a definition that no method reaches, and at most risky if invalid values are tolerated on every way to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from codegen.diff.verdict.verdicts import Verdicts


@dataclass(frozen=True)
class Rule:
    """A kind of change.

    Attributes:
        sentence: what happened, of the place it happened to.
        letters: its verdicts; empty where they depend on the types.
    """

    sentence: str
    letters: str = ""

    @property
    def verdicts(self) -> Verdicts:
        return Verdicts.of(self.letters or "SSSSS")


RULES: dict[str, Rule] = {
    # Profiles and messages
    "profile-added": Rule("The profile is new.", "SSSSS"),
    "profile-removed": Rule("The profile is gone.", "BBBBB"),
    "message-added": Rule("The protocol has a new kind of message.", "RSSSS"),
    "message-removed": Rule("The protocol no longer has this kind of message.", "SRSSS"),
    "message-changed": Rule("The envelope of the message changed; check that the runtime handles it.", "RRSSS"),
    # Methods
    "method-added": Rule("The method is new; a capability unlocks it, or it is a notification.", "SSSSS"),
    "method-added-unannounced": Rule("The method is new, and no capability says which peers have it.", "RSSSS"),
    "method-added-baseline": Rule("The method is new, and every peer must implement it.", "BSSSB"),
    "method-removed": Rule("The method is gone.", "SRBSB"),
    "method-removed-baseline": Rule("The method is gone, though every peer had to implement it.", "SBBSB"),
    "method-stabilised": Rule("The method was unstable and is now in the stable profile.", "SSSSS"),
    "method-left-stable": Rule("The method left the stable profile; it is unstable now.", "SRBSB"),
    "method-renamed": Rule("The method has another name on the wire.", "BBBSB"),
    "method-side-changed": Rule("Another side handles the method now.", "BBBSB"),
    "method-side-widened": Rule("Both sides handle the method now.", "SSSSS"),
    "method-kind-changed": Rule("The method changed from request to notification, or back.", "BBBBB"),
    "method-params-changed": Rule("The method takes another definition as params."),
    "method-result-changed": Rule("The method returns another definition."),
    "method-capability-changed": Rule("The capability that unlocks the method changed.", "RRRSS"),
    "method-baseline-gained": Rule("Every peer must implement the method now.", "BSSSB"),
    "method-baseline-lost": Rule("Peers need not implement the method any more.", "SBRSS"),
    "method-content-changed": Rule("A part of the method's params needs another capability.", "RRRSS"),
    # Facts about methods
    "method-opens-changed": Rule("Whether the method opens the connection changed.", "RRSSS"),
    "method-creates-changed": Rule("What the method's result names as new changed.", "SSSRS"),
    "method-ends-changed": Rule("What is gone when the method was answered changed.", "SSSRS"),
    "method-exempt-changed": Rule("What the method needs no capability for changed.", "SSRSS"),
    "method-gone-changed": Rule("The error of the method that counts as success changed.", "SSSRS"),
    "method-cancels-changed": Rule("The property that names the request to cancel changed.", "RRSSS"),
    "method-cancelled-changed": Rule("What cancels the method, or its answer then, changed.", "RRSRR"),
    "method-paths-changed": Rule("The properties of the method that must be absolute paths changed.", "SSRSS"),
    "profile-properties-changed": Rule("What all methods of the version have in common changed.", "RRSRS"),
    # Definitions
    "definition-added": Rule("The definition is new.", "SSSSS"),
    "definition-removed": Rule("The definition is gone.", "SSBBS"),
    "definition-renamed": Rule("The definition has another name.", "SSBBS"),
    "definition-stabilised": Rule("The definition was unstable and is now in the stable profile.", "SSSSS"),
    "definition-left-stable": Rule("The definition left the stable profile; it is unstable now.", "SSBBS"),
    "definition-kind-changed": Rule("The definition changed between object, union and alias."),
    "definition-base-changed": Rule("What the class derives from changed.", "SSSRS"),
    "definition-openness-changed": Rule(
        "Whether the schema mentions unknown keys changed; they are kept anyway.", "SSSSS"
    ),
    # Properties
    "property-optional-added": Rule("The property is new and optional.", "SSSSS"),
    "property-required-added": Rule("The property is new and required.", "SBBSS"),
    "property-optional-removed": Rule("The optional property is gone; what old peers send in it is ignored.", "SRBBS"),
    "property-required-removed": Rule("The required property is gone; old peers still require it.", "BRBBS"),
    "property-optional-renamed": Rule("The optional property has another name; the old name is ignored.", "RRBBS"),
    "property-required-renamed": Rule("The required property has another name.", "BBBBS"),
    "property-moved": Rule("The property moved between the object and what it wraps, and means the same.", "SSSSS"),
    "property-became-required": Rule("The property is required now.", "SBBSS"),
    "property-became-optional": Rule("The property is optional now."),
    "property-default-added": Rule("The optional property has a default now.", "RRSRS"),
    "property-default-changed": Rule("The default of the optional property changed.", "RRSRS"),
    "property-default-removed": Rule("The optional property no longer has a default.", "RRSBS"),
    "property-leniency-added": Rule("Invalid values of the property are tolerated now.", "SSSSS"),
    "property-leniency-removed": Rule("Invalid values of the property are no longer tolerated.", "SRSSS"),
    # Types, of properties and of definitions that are names for a type
    "nullable-added": Rule("Null is allowed now."),
    "nullable-removed": Rule("Null is no longer allowed."),
    "type-changed": Rule("The type changed."),
    "type-respelled": Rule("The type is written differently and allows the same values.", "SSSSS"),
    "constraint-loosened": Rule("More values of the same type are allowed now."),
    "constraint-tightened": Rule("Fewer values of the same type are allowed now."),
    "constraint-changed": Rule("Other values of the same type are allowed now."),
    "enum-closed-value-added": Rule("The closed enum has a new value.", "BSSBS"),
    "enum-open-value-added": Rule("The open enum names a new value.", "SSSSS"),
    "enum-closed-value-removed": Rule("The closed enum lost a value.", "SBBRS"),
    "enum-open-value-removed": Rule("The open enum no longer names a value.", "SRSSS"),
    "enum-opened": Rule("The closed enum is open now: it takes other values, too.", "BSSBS"),
    "enum-closed": Rule("The open enum is closed now: it takes only the values it names.", "SBBSS"),
    # Unions
    "union-closed-member-added": Rule("The closed union has a new member.", "BSSBS"),
    "union-open-member-added": Rule("The open union names a new member.", "SSSSS"),
    "union-closed-member-removed": Rule("The closed union lost a member.", "SBBBS"),
    "union-open-member-removed": Rule("The open union no longer names a member.", "SRBBS"),
    "union-member-renamed": Rule("A member of the union has another name in Python.", "SSBBS"),
    "union-member-retagged": Rule("A member of the union has another tag.", "BBBBS"),
    "union-opened": Rule("The closed union is open now: it takes unknown members, too.", "BSSBS"),
    "union-closed": Rule("The open union is closed now: it takes only the members it names.", "SBBBS"),
    "union-tag-changed": Rule("Another property tells the members of the union apart.", "BBBBS"),
    "union-choice-changed": Rule("Whether exactly one member of the union must match changed.", "RRSSS"),
    "union-order-changed": Rule("The members of the union are tried in another order.", "RRSRS"),
}
