#!/bin/sh
# Renders the pages of docs/results/five from their templates, the originals' numbers and the kept run folders.
#
#   docs/results/render.sh [NAME…]     (without a NAME also docs/results/site)
set -eu
cd "$(dirname "$0")/../.."
exec go run ./internal/pages render "$@"
