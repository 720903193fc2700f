"""Plans by which a model that fails comes to export: fixes round by round, each judged by torch.export itself."""

from exportlint.verify.plans.plan import Attempt, Blocker, Plan, Round
from exportlint.verify.plans.search import plan_fixes

__all__ = ["Attempt", "Blocker", "Plan", "Round", "plan_fixes"]
