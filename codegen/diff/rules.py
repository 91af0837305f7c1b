"""The rules: what can change, in one sentence each, and the verdicts where they are always the same.

The five letters are the axes of `codegen.diff.verdicts` in order: old peer, new peer, build, read, implement, each
(B)reaking, (R)isky or (S)afe. A rule without letters has its verdicts computed. Whatever a rule says of the wire is
safe for a definition no method reaches, and at most risky where every way to it gives way to bad values.
"""

from __future__ import annotations

from dataclasses import dataclass

from codegen.diff.verdicts import Verdicts


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
    "message-changed": Rule("The envelope of a message changed; the runtime has to agree.", "RRSSS"),
    # Methods
    "method-added": Rule("The method is new; a capability unlocks it, or it needs no answer.", "SSSSS"),
    "method-added-unannounced": Rule("The method is new, and no capability says who has it.", "RSSSS"),
    "method-added-baseline": Rule("The method is new, and every peer must have it.", "BSSSB"),
    "method-removed": Rule("The method is gone.", "SRBSB"),
    "method-removed-baseline": Rule("The method is gone, and every peer relied on it.", "SBBSB"),
    "method-stabilised": Rule("The method was unstable and is now in the stable profile.", "SSSSS"),
    "method-left-stable": Rule("The method left the stable profile and is unstable now.", "SRBSB"),
    "method-renamed": Rule("The method has another name on the wire.", "BBBSB"),
    "method-side-changed": Rule("Another side handles the method now.", "BBBSB"),
    "method-side-widened": Rule("Both sides handle the method now.", "SSSSS"),
    "method-kind-changed": Rule("A request became a notification, or the reverse.", "BBBBB"),
    "method-params-changed": Rule("The method's params are another definition."),
    "method-result-changed": Rule("The method's result is another definition."),
    "method-capability-changed": Rule("Another capability unlocks the method.", "RRRSS"),
    "method-baseline-gained": Rule("Every peer must have the method now.", "BSSSB"),
    "method-baseline-lost": Rule("A peer may be without the method now.", "SBRSS"),
    "method-content-changed": Rule("Parts of its params need other capabilities.", "RRRSS"),
    # Definitions
    "definition-added": Rule("The definition is new.", "SSSSS"),
    "definition-removed": Rule("The definition is gone.", "SSBBS"),
    "definition-renamed": Rule("The definition has another name.", "SSBBS"),
    "definition-stabilised": Rule("The definition was unstable and is now in the stable profile.", "SSSSS"),
    "definition-left-stable": Rule("The definition left the stable profile and is unstable now.", "SSBBS"),
    "definition-kind-changed": Rule("An object, a union or an alias became something else of these."),
    "definition-base-changed": Rule("What its class derives from changed.", "SSSRS"),
    "definition-openness-changed": Rule("Whether it describes room for other keys changed.", "SSSSS"),
    # Properties
    "property-optional-added": Rule("The property is new and optional.", "SSSSS"),
    "property-required-added": Rule("The property is new and required.", "SBBSS"),
    "property-optional-removed": Rule("The optional property is gone; what old peers say in it is not read.", "SRBBS"),
    "property-required-removed": Rule("The required property is gone; old peers need it.", "BRBBS"),
    "property-optional-renamed": Rule("The property has another name; what the old one said is not read.", "RRBBS"),
    "property-required-renamed": Rule("The required property has another name.", "BBBBS"),
    "property-moved": Rule("The property stands elsewhere and means the same.", "SSSSS"),
    "property-became-required": Rule("The property is required now.", "SBBSS"),
    "property-became-optional": Rule("The property may be left out now."),
    "property-default-added": Rule("Left out, the property has a default now.", "RRSRS"),
    "property-default-changed": Rule("Left out, the property means something else.", "RRSRS"),
    "property-default-removed": Rule("Left out, the property has no default any more.", "RRSBS"),
    "property-leniency-added": Rule("A bad value of the property gives way now.", "SSSSS"),
    "property-leniency-removed": Rule("A bad value of the property no longer gives way.", "SRSSS"),
    # Types, of properties and of definitions that are names for a type
    "nullable-added": Rule("It may be null now."),
    "nullable-removed": Rule("It may not be null any more."),
    "type-changed": Rule("It is of another type."),
    "type-respelled": Rule("Its type is written differently and has the same values.", "SSSSS"),
    "constraint-loosened": Rule("It may have more values of the same type."),
    "constraint-tightened": Rule("It may have fewer values of the same type."),
    "constraint-changed": Rule("It may have other values of the same type."),
    "enum-closed-value-added": Rule("The closed enum has a new value.", "BSSBS"),
    "enum-open-value-added": Rule("The open enum names a new value.", "SSSSS"),
    "enum-closed-value-removed": Rule("The closed enum lost a value.", "SBBRS"),
    "enum-open-value-removed": Rule("The open enum no longer names a value.", "SRSSS"),
    "enum-opened": Rule("The enum takes other values now.", "BSSBS"),
    "enum-closed": Rule("The enum takes no other values any more.", "SBBSS"),
    # Unions
    "union-closed-member-added": Rule("The closed union has a new member.", "BSSBS"),
    "union-open-member-added": Rule("The open union names a new member.", "SSSSS"),
    "union-closed-member-removed": Rule("The closed union lost a member.", "SBBBS"),
    "union-open-member-removed": Rule("The open union no longer names a member.", "SRBBS"),
    "union-member-renamed": Rule("A member of the union has another name in Python.", "SSBBS"),
    "union-member-retagged": Rule("A member of the union has another tag.", "BBBBS"),
    "union-opened": Rule("The union takes unknown members now.", "BSSBS"),
    "union-closed": Rule("The union takes no unknown members any more.", "SBBBS"),
    "union-tag-changed": Rule("Another property tells the members of the union apart.", "BBBBS"),
    "union-choice-changed": Rule("How many members of the union may match changed.", "RRSSS"),
    "union-order-changed": Rule("The members of the union are tried in another order.", "RRSRS"),
}
