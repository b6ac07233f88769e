from .client import Client as Client
from .history import History as History
from .session import Acknowledgement as Acknowledgement
from .session import ConflictError as ConflictError
from .session import Decision as Decision
from .session import Session as Session
from .session import open as open  # noqa: A004
from .store import Status as Status
from .store import Store as Store
