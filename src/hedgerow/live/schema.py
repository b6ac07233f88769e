"""The tables of a store.

The journal only grows. Row `seq` of a session is an ask (kind 0: the action of a round) or a tell
(kind 1: what was seen of that round); the order of rows is the order of commits.
"""

from __future__ import annotations

import sqlalchemy as sql
from sqlalchemy import Column, Float, ForeignKey, Integer, LargeBinary, Text, UniqueConstraint

ASK, TELL, LOST = 0, 1, 2
"""The kinds of journal rows; a repair leaves a lost one where another cannot be recovered."""

EVERY = 256
"""Feedbacks between two snapshots, unless a session asks for another number."""

METADATA = sql.MetaData()
VERSIONS = sql.Table("hedgerow_schema", METADATA, Column("version", Integer, nullable=False))
SESSIONS = sql.Table(
    "sessions",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created", Float, nullable=False),
    Column("policy", Text, nullable=False),  # as repr shows it
    Column("configuration", Text, nullable=False),  # JSON: the call that made the policy
    Column("dim", Integer, nullable=False),
    Column("every", Integer, nullable=False),  # tells between snapshots
    Column("labels", Text),  # JSON list: names of the coordinates
    Column("spec", Text),  # JSON: how the service builds the policy
    Column("digest", Text),  # of the columns above
)
JOURNAL = sql.Table(
    "journal",
    METADATA,
    Column("session", Integer, ForeignKey("sessions.id"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", Integer, nullable=False),
    Column("round", Integer, nullable=False),
    Column("decision", Text),  # the id, of an ask alone
    Column("time", Float, nullable=False),
    Column("digest", Text, nullable=False),  # SHA-256 of the payload
    Column("cost", Float),  # this and what follows, of a tell alone
    Column("violation", Float),
    Column("weight", Float),
    Column("certificate", Float),
    Column("told", Integer),  # totals up to this row
    Column("total_cost", Float),
    Column("total_ccv", Float),
    Column("total_violated", Integer),
    Column("payload", LargeBinary),  # the action or the feedback; none once it was compacted
    Column("chain", Text),  # digest of this row and of the chain before it
    Column("total_each", Text),  # JSON: totals of each of several constraints
    Column("binding", Text),  # JSON: past feedback that holds the decision, with its prices
    UniqueConstraint("session", "kind", "round", name="once"),
    UniqueConstraint("session", "decision", name="one_decision"),
)
SNAPSHOTS = sql.Table(
    "snapshots",
    METADATA,
    Column("session", Integer, ForeignKey("sessions.id"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("payload", LargeBinary, nullable=False),
    Column("release", Text),  # of the library that wrote it
    Column("digest", Text),
)
HEADS = sql.Table(
    "heads",
    METADATA,
    Column("session", Integer, ForeignKey("sessions.id"), primary_key=True),
    Column("seq", Integer, nullable=False),  # the last row of the journal
    Column("chain", Text, nullable=False),  # its digest
)
COPIES = sql.Table(
    "copies",
    METADATA,
    Column("session", Integer, ForeignKey("sessions.id"), primary_key=True),
    Column("text", Text, nullable=False),  # JSON of the session's row, to recover it from
    Column("digest", Text, nullable=False),
)
TOKENS = sql.Table(
    "tokens",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("revoked", Float),
)
LEASES = sql.Table(
    "leases",
    METADATA,
    Column("session", Integer, ForeignKey("sessions.id"), primary_key=True),
    Column("place", Text, nullable=False),  # machine and process namespace of the holder
    Column("process", Integer, nullable=False),
    Column("holder", Text, nullable=False),  # a random name
    Column("until", Float, nullable=False),  # seconds since 1970
)
