from .client import Client as Client
from .decision import Decision as Decision
from .history import History as History
from .opening import open as open  # noqa: A004
from .session import Acknowledgement as Acknowledgement
from .session import ConflictError as ConflictError
from .session import Session as Session
from .store import Status as Status
from .store import Store as Store
