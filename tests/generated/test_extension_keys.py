"""Unknown keys and `_meta` survive a round trip, including keys that resemble known ones."""

from __future__ import annotations

from tests.support.models.instances import snake_case
from tests.support.models.oracle import same_json
from tests.support.models.profiles import Profile
from tests.support.models.shapes import Samples

META = {"traceparent": "00-80e1", "_meta": None, "meta": {"deep": [1, 2.5, None]}}
UNKNOWN = {
    "meta": "not _meta",
    "model_config": [],
    "model_extra": {},
    "self": 1,
    "data": None,
    "": "",
    "__class__": "x",
}


def test_there_is_a_sample_of_every_model_class(profile: Profile, samples: Samples) -> None:
    classes = {type(samples.parse(sample, sample.instance)) for sample in samples.all()}
    assert classes == set(profile.models.values())


def test_meta_unknown_and_snake_case_keys_round_trip_in_every_model_class(samples: Samples) -> None:
    for sample in samples.all():
        own = sample.shape.properties
        snake_cased = {name: [key] for key in own if (name := snake_case(key)) not in own}
        meta = {"_meta": META} if "_meta" in own else {}
        instance = {
            **{key: item for key, item in UNKNOWN.items() if key not in own},
            **snake_cased,
            **sample.instance,
            **meta,
        }
        value = samples.parse(sample, instance)
        assert same_json(samples.dump(sample, value), instance), sample.shape
        if meta:
            assert value.meta == META


def test_snake_case_keys_do_not_set_the_attributes_of_known_keys(samples: Samples) -> None:
    for sample in samples.all():
        properties = sample.shape.properties
        snake_cased = {name: "unknown" for key in properties if (name := snake_case(key)) not in properties}
        known = samples.parse(sample, sample.instance)
        value = samples.parse(sample, {**snake_cased, **sample.instance})
        assert all(getattr(value, name) == getattr(known, name) for name in type(known).model_fields)
