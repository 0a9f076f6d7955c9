#!/bin/sh
# release.sh VERSION: static, reproducible builds of plegforensics with
# checksums, a list of what each binary is made of, completions, the manual
# page and the krew manifest, all in dist/. The same source, version and Go
# release give the same bytes anywhere.
set -eu
version=${1:?usage: scripts/release.sh vX.Y.Z}
cd "$(dirname "$0")/.."
export CGO_ENABLED=0 GOFLAGS=-trimpath LC_ALL=C TZ=UTC
# Archives carry the time of the commit, not of the build.
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
dist=dist
rm -rf "$dist"
mkdir -p "$dist"

# pack OS ARCH BINARY: a tar of the binary and the licence, the same each time.
pack() {
  stage=$dist/stage
  rm -rf "$stage"
  mkdir -p "$stage"
  cp "$3" "$stage/$(basename "$3" | sed "s/_$1_$2//")"
  cp LICENSE "$stage/"
  tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -C "$stage" -cf - . |
    gzip -9n > "$dist/plegforensics_${version}_$1_$2.tar.gz"
  rm -rf "$stage"
}

for os in linux darwin windows; do
  for arch in amd64 arm64; do
    ext=
    [ "$os" = windows ] && ext=.exe
    bin=$dist/plegforensics_${os}_$arch$ext
    GOOS=$os GOARCH=$arch go build -buildvcs=false -ldflags "-s -w -buildid= -X main.version=$version" -o "$bin" ./cmd/plegforensics
    go version -m "$bin" > "$dist/plegforensics_${version}_${os}_$arch.sbom.txt"
    pack "$os" "$arch" "$bin"
    rm "$bin"
  done
done

for shell in bash zsh fish powershell; do
  go run -ldflags "-X main.version=$version" ./cmd/plegforensics completion "$shell" > "$dist/plegforensics.$shell"
done
go run -ldflags "-X main.version=$version" ./cmd/plegforensics man > "$dist/plegforensics.1"

(cd "$dist" && sha256sum -- *.tar.gz *.sbom.txt > SHA256SUMS)

# The krew manifest wants the checksum of each archive.
sed "s/VERSION/$version/g" packaging/krew/plegforensics.yaml > "$dist/krew.yaml"
for os in linux darwin windows; do
  for arch in amd64 arm64; do
    sum=$(sha256sum "$dist/plegforensics_${version}_${os}_$arch.tar.gz" | cut -d' ' -f1)
    sed "s/SHA256_${os}_$arch/$sum/" "$dist/krew.yaml" > "$dist/krew.tmp"
    mv "$dist/krew.tmp" "$dist/krew.yaml"
  done
done
ls -l "$dist"
