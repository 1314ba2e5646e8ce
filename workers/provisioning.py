"""Provisioning, in four steps that undo each other: an address, a volume, a machine, a name.

What is made lies in an *estate* in Redis, so that workers on any host see the same, and the demo needs
nothing to be installed. Everything else is as with a real provider: each thing is made under the step's
key, so that making it again changes nothing, and undoing finds it even when nobody could write down that
it was made. Each undo bears that there is nothing to undo.
"""

import time
from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Annotated

from pydantic import Field

from jobs import redis
from jobs.errors import InvalidArgs, TaskFailure
from scheduler.steps.libraries import operation
from scheduler.steps.operations import StepRun

# Within it, what exists by its name, with the key of the step that made it.
ESTATE = "dure:estate:{}"
ADDRESSES, VOLUMES, MACHINES, NAMES = "addresses", "volumes", "machines", "names"

Gigabytes = Annotated[int, Field(ge=1, le=10_000)]
Cpus = Annotated[int, Field(ge=1, le=128)]
HostName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,62}$")]
Seconds = Annotated[float, Field(ge=0, le=60)]


def everything(kind: str) -> dict[str, str]:
    """What of a kind exists, and which step made it."""
    found = redis.client().hgetall(ESTATE.format(kind))
    return {str(name): str(key) for name, key in found.items()}


def make(step: StepRun, kind: str, names: Iterator[str]) -> str | None:
    """The first of these names that is free, or that this step has made before."""
    made = next((name for name, key in everything(kind).items() if key == step.key), None)
    if made is not None:
        return made
    return next((name for name in names if redis.client().hsetnx(ESTATE.format(kind), name, step.key)), None)


def unmake(step: StepRun, kind: str) -> list[str]:
    """Whatever this step has made of a kind is gone; what that was."""
    mine = [name for name, key in everything(kind).items() if key == step.key]
    if mine:
        redis.client().hdel(ESTATE.format(kind), *mine)
    return mine


def needed(step: StepRun, name: str) -> str:
    value = step.context.get(name)
    if not isinstance(value, str):
        raise TaskFailure(f"No step before this one has put {name!r} into the context.")
    return value


@operation
def reserve_address(step: StepRun, network: str = "10.20.0.0/24") -> dict[str, str]:
    """Reserves the first free address of a network."""
    try:
        hosts = IPv4Network(network).hosts()
    except ValueError as error:
        raise InvalidArgs(f"network: {error}") from None
    address = make(step, ADDRESSES, (str(host) for host in hosts))
    if address is None:
        raise TaskFailure(f"{network} has no free address.")
    step.context["address"] = address
    return {"address": address}


@operation
def release_address(step: StepRun) -> dict[str, list[str]]:
    """Gives the address back."""
    step.context.pop("address", None)
    return {"released": unmake(step, ADDRESSES)}


@operation
def create_volume(step: StepRun, gigabytes: Gigabytes = 20) -> dict[str, str | int]:
    """Creates a volume."""
    volume = make(step, VOLUMES, iter([f"vol-{step.key}"])) or ""
    step.context["volume"] = volume
    return {"volume": volume, "gigabytes": gigabytes}


@operation
def delete_volume(step: StepRun) -> dict[str, list[str]]:
    """Deletes the volume with all that is on it."""
    step.context.pop("volume", None)
    return {"deleted": unmake(step, VOLUMES)}


@operation(role="DevOps")
def start_machine(step: StepRun, cpus: Cpus = 2, boot_seconds: Seconds = 0.2) -> dict[str, str | int]:
    """Starts a machine with the volume and the address, and waits until it has booted."""
    volume, address = needed(step, "volume"), needed(step, "address")
    machine = make(step, MACHINES, iter([f"machine-{step.key}"])) or ""
    step.context["machine"] = machine
    until = time.monotonic() + boot_seconds
    while (left := until - time.monotonic()) > 0:
        step.progress(max(0.0, 1 - left / boot_seconds), "booting")
        time.sleep(min(left, 0.2))
    return {"machine": machine, "volume": volume, "address": address, "cpus": cpus}


@operation(role="DevOps", max_retries=5)
def stop_machine(step: StepRun) -> dict[str, list[str]]:
    """Stops the machine."""
    step.context.pop("machine", None)
    return {"stopped": unmake(step, MACHINES)}


@operation
def register_name(step: StepRun, name: HostName, fail: bool = False) -> dict[str, str]:
    """Registers a name for the machine's address; with `fail`, the registrar refuses it."""
    address = needed(step, "address")
    if fail:
        raise TaskFailure(f"The registrar refused {name!r}, as it was asked to.")
    if make(step, NAMES, iter([name])) is None:
        raise TaskFailure(f"The name {name!r} is taken.")
    step.context["name"] = name
    return {"name": name, "address": address}


@operation
def remove_name(step: StepRun) -> dict[str, list[str]]:
    """Removes the name."""
    step.context.pop("name", None)
    return {"removed": unmake(step, NAMES)}
