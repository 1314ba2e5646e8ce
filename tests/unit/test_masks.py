"""Masks hide the secrets of JSON, and give them back when an edited value is saved."""

from jobs.masks import MASK, has_mask, mask_secrets, restore_secrets


def test_a_value_whose_name_says_secret_is_masked():
    masked = mask_secrets({"url": "https://a", "headers": [{"Authorization": "Bearer x"}], "api_key": "k"})
    assert masked == {"url": "https://a", "headers": [{"Authorization": MASK}], "api_key": MASK}


def test_a_mask_is_replaced_by_the_secret_that_it_hid():
    before = {"url": "a", "token": "hush", "deep": [{"password": "p", "x": 1}]}
    masked = mask_secrets(before)
    assert restore_secrets(masked, before) == before
    assert restore_secrets({**masked, "url": "b"}, before) == {**before, "url": "b"}
    assert restore_secrets({"token": "new"}, before) == {"token": "new"}


def test_a_secret_follows_the_ref_of_its_step_and_a_moved_mask_stays():
    before = [{"ref": "a", "token": "1"}, {"ref": "b", "token": "2"}]
    assert restore_secrets(mask_secrets(before)[::-1], before) == before[::-1]
    assert has_mask(restore_secrets([{"ref": "c", "token": MASK}], before))
    assert has_mask(restore_secrets({"other": MASK}, {"token": "1"}))
    assert not has_mask(restore_secrets(mask_secrets(before), before))
