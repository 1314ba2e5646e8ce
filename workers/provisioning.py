"""Provisioning, in four steps with a rollback each: an address, a volume, a machine, a name.

The resources are entries in Redis, so that workers on any host see the same and the demo needs nothing
installed. Everything else is as with a real provider: each resource is created under the step's key, so
creating it again changes nothing, and the rollback finds it even when the worker died before it could record
it. Each rollback accepts that there is nothing to roll back.
"""

import time
from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Annotated

from pydantic import Field

from dure import InvalidArgs, StepRun, TaskFailure, operation
from jobs import redis

# A hash for each kind of resource: the resource's name, and the key of the step that created it.
RESOURCES = "dure:estate:{}"
ADDRESSES, VOLUMES, MACHINES, NAMES = "addresses", "volumes", "machines", "names"

Gigabytes = Annotated[int, Field(ge=1, le=10_000)]
Cpus = Annotated[int, Field(ge=1, le=128)]
HostName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,62}$")]
Seconds = Annotated[float, Field(ge=0, le=60)]


def resources(kind: str) -> dict[str, str]:
    """The resources of a kind, with the keys of the steps that created them."""
    entries = redis.client().hgetall(RESOURCES.format(kind))
    return {str(name): str(key) for name, key in entries.items()}


def create(step: StepRun, kind: str, names: Iterator[str]) -> str | None:
    """Create a resource under the first free name, or return the one that this step created before."""
    existing = next((name for name, key in resources(kind).items() if key == step.key), None)
    if existing is not None:
        return existing
    return next(
        (name for name in names if redis.client().hsetnx(RESOURCES.format(kind), name, step.key)), None
    )


def delete(step: StepRun, kind: str) -> list[str]:
    """Delete and return the names of the resources that this step created."""
    names = [name for name, key in resources(kind).items() if key == step.key]
    if names:
        redis.client().hdel(RESOURCES.format(kind), *names)
    return names


def require(step: StepRun, name: str) -> str:
    value = step.context.get(name)
    if not isinstance(value, str):
        raise TaskFailure(f"No earlier step has put {name!r} into the context.")
    return value


@operation
def reserve_address(step: StepRun, network: str = "10.20.0.0/24") -> dict[str, str]:
    """Reserves the first free address of a network."""
    try:
        hosts = IPv4Network(network).hosts()
    except ValueError as error:
        raise InvalidArgs(f"network: {error}") from None
    address = create(step, ADDRESSES, (str(host) for host in hosts))
    if address is None:
        raise TaskFailure(f"{network} has no free address.")
    step.context["address"] = address
    return {"address": address}


@operation
def release_address(step: StepRun) -> dict[str, list[str]]:
    """Releases the address."""
    step.context.pop("address", None)
    return {"released": delete(step, ADDRESSES)}


@operation
def create_volume(step: StepRun, gigabytes: Gigabytes = 20) -> dict[str, str | int]:
    """Creates a volume."""
    volume = create(step, VOLUMES, iter([f"vol-{step.key}"])) or ""
    step.context["volume"] = volume
    return {"volume": volume, "gigabytes": gigabytes}


@operation
def delete_volume(step: StepRun) -> dict[str, list[str]]:
    """Deletes the volume and its data."""
    step.context.pop("volume", None)
    return {"deleted": delete(step, VOLUMES)}


@operation(role="DevOps")
def start_machine(step: StepRun, cpus: Cpus = 2, boot_seconds: Seconds = 0.2) -> dict[str, str | int]:
    """Starts a machine with the volume and the address, and waits until it has booted."""
    volume, address = require(step, "volume"), require(step, "address")
    machine = create(step, MACHINES, iter([f"machine-{step.key}"])) or ""
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
    return {"stopped": delete(step, MACHINES)}


@operation
def register_name(step: StepRun, name: HostName, fail: bool = False) -> dict[str, str]:
    """Registers a name for the machine's address; with `fail`, the registrar refuses it."""
    address = require(step, "address")
    if fail:
        raise TaskFailure(f"The registrar refused {name!r}, as it was asked to.")
    if create(step, NAMES, iter([name])) is None:
        raise TaskFailure(f"The name {name!r} is taken.")
    step.context["name"] = name
    return {"name": name, "address": address}


@operation
def remove_name(step: StepRun, keep: bool = False) -> dict[str, list[str]]:
    """Removes the name; with `keep`, the registrar refuses to."""
    if keep:
        raise TaskFailure("The registrar keeps the name, as it was asked to.")
    step.context.pop("name", None)
    return {"removed": delete(step, NAMES)}
