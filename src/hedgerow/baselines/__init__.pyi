from .clasp import Clasp as Clasp
from .clasp import ClaspRates as ClaspRates
from .clasp import ferreira_clasp as ferreira_clasp
from .drift_plus_penalty import DriftPlusPenalty as DriftPlusPenalty
from .drift_plus_penalty import VirtualQueue as VirtualQueue
from .drift_plus_penalty import (
    liakopoulos_cold as liakopoulos_cold,
)
from .drift_plus_penalty import (
    yu_neely_2020 as yu_neely_2020,
)
from .feasible_leader import (
    FeasibleLeader as FeasibleLeader,
)
from .feasible_leader import (
    follow_the_leader_feasible as follow_the_leader_feasible,
)
from .fixed_actions import BestOfYesterday as BestOfYesterday
from .fixed_actions import FixedAction as FixedAction
from .fixed_actions import FixedSplit as FixedSplit
from .fixed_actions import LastMatrix as LastMatrix
from .fixed_actions import MeanMatrix as MeanMatrix
from .fixed_actions import best_of_yesterday as best_of_yesterday
from .fixed_actions import cheapest_path as cheapest_path
from .fixed_actions import ecmp as ecmp
from .fixed_actions import fixed as fixed
from .fixed_actions import shortest_path as shortest_path
from .garber_kretzu import garber_kretzu_2024_bandit as garber_kretzu_2024_bandit
from .garber_kretzu import (
    garber_kretzu_2024_dpp as garber_kretzu_2024_dpp,
)
from .garber_kretzu import (
    garber_kretzu_2024_lpm as garber_kretzu_2024_lpm,
)
from .last_optimum import LastRound as LastRound
from .last_optimum import last_round as last_round
from .methods import (
    METHODS as METHODS,
)
from .methods import (
    TODAY as TODAY,
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
from .nested_projection import HalfSpaces as HalfSpaces
from .nested_projection import NestedProjection as NestedProjection
from .nested_projection import sarkar_np_ogd as sarkar_np_ogd
from .normalised import Normalised as Normalised
from .penalised_step import PenaltyStep as PenaltyStep
from .penalised_step import penalty_step as penalty_step
from .penalty_prox import PenaltyProx as PenaltyProx
from .pi_control import ProportionalIntegral as ProportionalIntegral
from .pi_control import proportional_integral as proportional_integral
from .primal_dual import (
    ConstantRates as ConstantRates,
)
from .primal_dual import (
    DecayingRates as DecayingRates,
)
from .primal_dual import (
    ForgetfulRates as ForgetfulRates,
)
from .primal_dual import (
    PrimalDual as PrimalDual,
)
from .primal_dual import (
    Schedule as Schedule,
)
from .primal_dual import (
    jenatton_2016 as jenatton_2016,
)
from .primal_dual import (
    mahdavi_2012 as mahdavi_2012,
)
from .primal_dual import (
    sun_safe as sun_safe,
)
from .primal_dual import (
    yuan_lamperski_2018 as yuan_lamperski_2018,
)
from .rectified_penalty import Recoo as Recoo
from .rectified_penalty import RecooRates as RecooRates
from .rectified_penalty import (
    Yi2021 as Yi2021,
)
from .rectified_penalty import (
    Yi2023 as Yi2023,
)
from .rectified_penalty import (
    YiRates as YiRates,
)
from .rectified_penalty import guo_recoo as guo_recoo
from .rectified_penalty import (
    yi_2021 as yi_2021,
)
from .rectified_penalty import (
    yi_2023 as yi_2023,
)
from .same_time import SameTime as SameTime
from .sinha_vaze import lu_bagel as lu_bagel
from .sinha_vaze import sarkar_sinha_2025 as sarkar_sinha_2025
from .sinha_vaze import (
    sinha_vaze_2024 as sinha_vaze_2024,
)
from .sinha_vaze import (
    sinha_vaze_2024_strongly_convex as sinha_vaze_2024_strongly_convex,
)
from .threshold import ThresholdRule as ThresholdRule
from .threshold import threshold_rule as threshold_rule
from .wang import wang_2025 as wang_2025
from .wang import wang_2025_bandit as wang_2025_bandit
from .wang import wang_2025_strongly_convex as wang_2025_strongly_convex
