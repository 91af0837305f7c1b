"""The rules: a sentence for every kind of change, its verdicts, and what to do about it.

The five letters are the verdicts on the axes of `verdicts.py`, in order: old peer, new peer, build, read, implement.
They are (B)reaking, (R)isky or (S)afe. Without letters, the change is safe, or its verdicts are computed. On the wire,
a change is safe in a definition that no message contains, and at most risky if invalid values are tolerated wherever
the definition is used.
"""

from __future__ import annotations

from typing import NamedTuple

from codegen.diff.verdict.verdicts import Verdicts


class Rule(NamedTuple):
    """A kind of change: a sentence for the report, and the letters of the verdicts."""

    sentence: str
    letters: str = "SSSSS"

    @property
    def verdicts(self) -> Verdicts:
        return Verdicts.of(self.letters)


RULES: dict[str, Rule] = {
    # Profiles and messages
    "profile-added": Rule("This version of the protocol is new."),
    "profile-removed": Rule("This version of the protocol was removed.", "BBBBB"),
    "message-added": Rule("The protocol has a new kind of message.", "RSSSS"),
    "message-removed": Rule("The protocol no longer has this kind of message.", "SRSSS"),
    "message-changed": Rule("A part of the JSON-RPC envelope changed; check that the runtime handles it.", "RRSSS"),
    # Methods
    "method-added": Rule("The method is new, and requires a capability."),
    "method-added-notification": Rule("The notification is new; peers that don't know it ignore it."),
    "method-added-unannounced": Rule("The method is new, and no capability tells which peers support it.", "RSSSS"),
    "method-added-baseline": Rule("The method is new, and every peer must implement it.", "BSSSB"),
    "method-removed": Rule("The method was removed, and so was the capability that it requires.", "SRBSB"),
    "method-removed-notification": Rule("The notification was removed; peers that don't know it ignore it.", "SRBSB"),
    "method-removed-unannounced": Rule("The method was removed, and no capability tells its callers so.", "SBBSB"),
    "method-removed-baseline": Rule("The method was removed; until now, every peer had to implement it.", "SBBSB"),
    "method-stabilised": Rule("The method was unstable, and is now in the stable profile."),
    "method-left-stable": Rule("The method was stable, and is now only in the unstable profile.", "SRBSB"),
    "method-renamed": Rule("The method's name on the wire changed.", "BBBSB"),
    "method-side-changed": Rule("The side that handles the method changed.", "BBBSB"),
    "method-side-narrowed": Rule("Only one of both sides handles the method now.", "SBBSB"),
    "method-side-widened": Rule("Both sides handle the method now."),
    "method-kind-changed": Rule("The method changed from request to notification, or the reverse.", "BBBBB"),
    "method-deprecated": Rule("The method is deprecated now, or no longer is. Type checkers and warnings say so."),
    "method-params-changed": Rule("The method takes a different definition as its params.", "SSBBB"),
    "method-result-changed": Rule("The method returns a different definition as its result.", "SSBBB"),
    "method-capability-changed": Rule("The capability that the method requires changed.", "RRRSS"),
    "method-baseline-gained": Rule("Every peer must implement the method now.", "BSSSB"),
    "method-baseline-lost": Rule("Peers no longer have to implement the method.", "SBRSS"),
    "method-needs-gained": Rule("A part of the method's messages requires a capability now.", "SRRSS"),
    "method-needs-lost": Rule("A part of the method's messages no longer requires a capability.", "RSSSS"),
    "method-needs-changed": Rule("The capability that a part of the method's messages requires changed.", "RRRSS"),
    "method-absolute-gained": Rule("A path in the method's messages must be absolute now.", "SRRSS"),
    "method-absolute-lost": Rule("A path in the method's messages may be relative now.", "RSSSS"),
    "method-unsupported-gained": Rule("A part of the method's messages is rejected now.", "SRSSS"),
    "method-unsupported-lost": Rule("A part of the method's messages is no longer rejected.", "RSSSS"),
    # Facts about methods
    "method-opens-changed": Rule("The method started or stopped being the one that opens the connection.", "RRSSS"),
    "method-creates-changed": Rule("The property of the result that names a new session or terminal changed.", "SSSRS"),
    "method-ends-changed": Rule("The property of the params that names what the method ends changed.", "SSSRS"),
    "method-exempt-changed": Rule("The exception from the method's required capability changed.", "SSRSS"),
    "method-gone-changed": Rule("The error code that is treated as an empty result changed.", "SSSRS"),
    "method-cancels-changed": Rule("The property of the params that names the request to cancel changed.", "RRSSS"),
    "method-cancelled-changed": Rule("What cancels the method, or the result of a cancelled call, changed.", "RRSRR"),
    "method-interactive-changed": Rule("Whether notifications are handled before the method changed.", "SSSSR"),
    "method-accepted-changed": Rule("The notification that shows that the request was accepted changed.", "RRSRR"),
    "profile-properties-changed": Rule("A setting that all methods of this protocol version share changed.", "RRSRS"),
    # Definitions
    "definition-deprecated": Rule("The definition is deprecated now, or no longer is."),
    "definition-added": Rule("The definition is new."),
    "definition-removed": Rule("The definition was removed.", "SSBBS"),
    "definition-renamed": Rule("The definition was renamed.", "SSBBS"),
    "definition-old-name-removed": Rule("The old name of the definition is no longer kept.", "SSBBS"),
    "definition-stabilised": Rule("The definition was unstable, and is now in the stable profile."),
    "definition-left-stable": Rule("The definition was stable, and is now only in the unstable profile.", "SSBBS"),
    "definition-kind-changed": Rule("The definition's kind of type changed: object, union or alias.", "SSBBS"),
    "definition-base-changed": Rule("The base class of the Python class changed.", "SSSRS"),
    "definition-openness-changed": Rule(
        "The schema started or stopped mentioning unknown keys, which are always kept."
    ),
    # Properties
    "property-optional-added": Rule("The property is new and optional."),
    "property-required-added": Rule("The property is new and required.", "SBBSS"),
    "property-optional-removed": Rule("The optional property was removed; it is ignored if it is sent.", "SRBBS"),
    "property-required-removed": Rule("The required property was removed; old peers still require it.", "BRBBS"),
    "property-optional-renamed": Rule("The optional property was renamed; the old name is ignored.", "RRBBS"),
    "property-required-renamed": Rule("The required property was renamed.", "BBBBS"),
    "property-deprecated": Rule("The property is deprecated now, or no longer is."),
    "property-moved": Rule("The property moved between a class and its base class; the JSON is the same."),
    "property-became-required": Rule("The property is required now.", "SBBSS"),
    "property-became-optional": Rule("The property is optional now.", "BSSBS"),
    "property-default-added": Rule("The optional property has a default now.", "RRSRS"),
    "property-default-changed": Rule("The default of the optional property changed.", "RRSRS"),
    "property-default-removed": Rule("The optional property no longer has a default.", "RRSBS"),
    "property-leniency-added": Rule("Invalid values of the property are tolerated now."),
    "property-leniency-removed": Rule("Invalid values of the property are no longer tolerated.", "SRSSS"),
    # Types of properties, and of definitions that are aliases of a type
    "nullable-added": Rule("Null is allowed now.", "BSSBS"),
    "nullable-removed": Rule("Null is no longer allowed.", "SBBSS"),
    "type-changed": Rule("The type changed."),
    "type-respelled": Rule("The type is written differently but allows the same values."),
    "constraint-loosened": Rule("More values of the same type are allowed now."),
    "constraint-tightened": Rule("Fewer values of the same type are allowed now."),
    "constraint-changed": Rule("Some values of the same type are newly allowed, and others no longer are."),
    "enum-closed-value-added": Rule("The closed enum has a new value.", "BSSBS"),
    "enum-open-value-added": Rule("The open enum lists a new value."),
    "enum-closed-value-removed": Rule("A value was removed from the closed enum.", "SBBRS"),
    "enum-open-value-removed": Rule("The open enum no longer lists a value; it counts as unknown now.", "SRSSS"),
    "type-part-deprecated": Rule("A value, or another part of the type, is deprecated now, or no longer is."),
    "enum-opened": Rule("The closed enum is open now: it also accepts values that it doesn't list.", "BSSBS"),
    "enum-closed": Rule("The open enum is closed now: it accepts only the values that it lists.", "SBBSS"),
    # Unions
    "union-closed-member-added": Rule("The closed union has a new member.", "BSSBS"),
    "union-open-member-added": Rule("The open union lists a new member."),
    "union-closed-member-removed": Rule("A member was removed from the closed union.", "SBBBS"),
    "union-open-member-removed": Rule("The open union no longer lists a member; it counts as unknown now.", "SRBBS"),
    "union-member-renamed": Rule("The Python class of a union member was renamed.", "SSBBS"),
    "union-member-retagged": Rule("The tag of a union member changed.", "BBBBS"),
    "union-member-deprecated": Rule("The member of the union is deprecated now, or no longer is."),
    "union-opened": Rule("The closed union is open now: it also accepts unlisted members.", "BSSBS"),
    "union-closed": Rule("The open union is closed now: it accepts only the members that it lists.", "SBBBS"),
    "union-reserved-tags-changed": Rule(
        "Other tags are refused because only the unstable profile lists them.", "RRSSS"
    ),
    "union-tag-changed": Rule("A different property identifies the members of the union now.", "BBSBS"),
    "union-choice-changed": Rule("Whether exactly one member of the union must match changed.", "RRSSS"),
    "union-member-shadowed": Rule("Some messages that are sent as one member of the union are read as another one."),
    "union-order-changed": Rule("The members of the union are tried in a different order now.", "RRSRS"),
}

_OLD = "to peers that haven't upgraded"
# What to do if it breaks: for senders and callers, and for readers and handlers. The first pattern that matches the
# rule counts.
TODO = {
    "*-left-stable": ("Stop using it, or use the unstable profile.", "Stop using it, or use the unstable profile."),
    "*-renamed": ("Use its new name.", "Use its new name."),
    "*-old-name-removed": ("Use its new name.", "Use its new name."),
    "method-removed-notification": ("Stop sending it.", "Remove its handler."),
    "method-removed*": ("Stop calling it.", "Remove its handler."),
    "method-side-changed": ("Call it on the side that handles it now.", "Move its handler to the other side."),
    "method-side-narrowed": ("Call it only on the side that handles it now.", "Remove its handler on the other side."),
    "method-baseline-gained": ("Expect peers that don't have it.", "Implement it."),
    "method-baseline-lost": ("Expect peers that don't have it.", ""),
    "method-added-baseline": ("Expect peers that don't have it.", "Implement it."),
    "property-required-removed": (f"Stop passing it, but still send it {_OLD}.", "Stop reading it."),
    "property-optional-removed": ("Stop passing it.", "Stop reading it."),
    "property-default-removed": ("", "Expect that it is missing."),
    "nullable-removed": ("Don't pass None.", ""),
    "*-value-removed": ("Stop sending it.", ""),
    "*-member-removed": ("Stop sending it.", "Remove the code that handles it."),
    "*-removed": ("Stop using it.", "Stop using it."),
    "property-*-required": ("Always pass it.", ""),
    "property-required-added": ("Always pass it.", ""),
    "property-became-optional": (f"Still send it {_OLD}.", "Expect that it is missing."),
    "nullable-added": (f"Don't send null {_OLD}.", "Expect None."),
    "constraint-loosened": (f"Don't send the newly allowed values {_OLD}.", ""),
    "constraint-*": ("Send only what both versions allow.", ""),
    "*-added": (f"Don't send it {_OLD}.", "Handle it."),
    "*-opened": (f"Send only the listed ones {_OLD}.", "Expect unlisted ones, too."),
    "*-closed": ("Send only the listed ones.", "Remove code that handles unlisted ones."),
    "*-shadowed": ("Send only messages that a single member accepts.", ""),
    "*": ("Send it as it is now.", "Read it as it is now."),
}
