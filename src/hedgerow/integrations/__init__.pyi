from .gym_agents import AgentPolicy as AgentPolicy
from .gym_agents import PolicyAgent as PolicyAgent
from .gym_environment import DecisionSpace as DecisionSpace
from .gym_environment import ProblemEnv as ProblemEnv
from .interval_shares import Interval as Interval
from .interval_shares import IntervalShares as IntervalShares
from .litellm_shares import LiteLLMShares as LiteLLMShares
