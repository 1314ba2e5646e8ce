"""Decides when work begins: schedules, workflows and the beat that fires them.

It creates Executions and batches through the engine's verbs and changes none of its rows itself.
"""
