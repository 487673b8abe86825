#!/bin/sh
# Made by `lean-ctx connect cline`, removed by `lean-ctx disconnect cline`.
answer=$(LINE 2>/dev/null)
[ -n "$answer" ] || answer='{"cancel":false}'
printf '%s\n' "$answer"
