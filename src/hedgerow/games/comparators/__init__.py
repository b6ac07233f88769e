"""Best actions in hindsight, with a proof of how good they are."""
