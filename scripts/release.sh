#!/bin/sh
# release.sh VERSION: makes a release in dist/: archives of static, reproducible
# builds for every platform, a bill of materials of each, completions, the
# manual page, the krew manifest and checksums. Needs Go, git and the module
# proxy. internal/cmd/release says how.
set -eu
version=${1:?usage: scripts/release.sh vX.Y.Z}
cd "$(dirname "$0")/.."
scripts/govulncheck.sh
exec go run ./internal/cmd/release -version "$version"
