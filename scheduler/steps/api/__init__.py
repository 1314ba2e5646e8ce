"""The REST API of step queues and operation libraries. Each view calls one verb and renders."""
