from .drift_plus_penalty import (
    cold as cold,
)
from .drift_plus_penalty import (
    neely_yu_2017 as neely_yu_2017,
)
from .drift_plus_penalty import (
    yu_neely_2020 as yu_neely_2020,
)
from .drift_plus_penalty import (
    yu_neely_wei_2017 as yu_neely_wei_2017,
)
from .feasible_leader import (
    FeasibleLeader as FeasibleLeader,
)
from .feasible_leader import (
    follow_the_leader_feasible as follow_the_leader_feasible,
)
from .garber_kretzu_2024 import (
    garber_kretzu_dpp as garber_kretzu_dpp,
)
from .garber_kretzu_2024 import (
    garber_kretzu_lpm as garber_kretzu_lpm,
)
from .garber_kretzu_2024_bandit import garber_kretzu_bandit as garber_kretzu_bandit
from .guo_2022 import Recoo as Recoo
from .guo_2022 import RecooRates as RecooRates
from .guo_2022 import recoo as recoo
from .lagrangian import (
    ConstantRates as ConstantRates,
)
from .lagrangian import (
    DecayingRates as DecayingRates,
)
from .lagrangian import (
    ForgetfulRates as ForgetfulRates,
)
from .lagrangian import (
    PrimalDual as PrimalDual,
)
from .lagrangian import (
    Schedule as Schedule,
)
from .lu_2025 import bagel as bagel
from .methods import (
    METHODS as METHODS,
)
from .methods import (
    Constants as Constants,
)
from .methods import (
    Method as Method,
)
from .methods import (
    baseline as baseline,
)
from .methods import (
    find_method as find_method,
)
from .normalised import Normalised as Normalised
from .penalised_step import PenaltyStep as PenaltyStep
from .penalised_step import penalty_step as penalty_step
from .penalty_prox import PenaltyProx as PenaltyProx
from .primal_dual import (
    jenatton as jenatton,
)
from .primal_dual import (
    mahdavi as mahdavi,
)
from .primal_dual import (
    sun as sun,
)
from .primal_dual import (
    yuan_lamperski as yuan_lamperski,
)
from .queues import DriftPlusPenalty as DriftPlusPenalty
from .queues import VirtualQueue as VirtualQueue
from .sarkar_sinha_2025 import sarkar_anytime as sarkar_anytime
from .sinha_vaze_2024 import (
    sinha_vaze as sinha_vaze,
)
from .sinha_vaze_2024 import (
    sinha_vaze_strongly_convex as sinha_vaze_strongly_convex,
)
from .wang_2025 import wang_ofw as wang_ofw
from .wang_2025 import wang_ofw_strongly_convex as wang_ofw_strongly_convex
from .wang_2025_bandit import wang_bandit as wang_bandit
from .yi_2021_2023 import (
    Yi2021 as Yi2021,
)
from .yi_2021_2023 import (
    Yi2023 as Yi2023,
)
from .yi_2021_2023 import (
    YiRates as YiRates,
)
from .yi_2021_2023 import (
    yi_2021 as yi_2021,
)
from .yi_2021_2023 import (
    yi_2023 as yi_2023,
)
