#!/bin/sh
# Installs a release of gctrail:
#
#     sh install.sh [--unverified] VERSION [FOLDER]
#
# VERSION is without the v; FOLDER is ~/.local/bin by default. The program is installed only
# if the release workflow of github.com/gctrail/gctrail built it for this version: cosign
# verifies the signature of the checksums or, where cosign is not installed, gh the
# provenance of the archive. Checksums alone do not show that, because whoever can replace
# an archive of a release can replace its checksums, too. --unverified needs neither program
# and compares only the checksums.
#
# GCTRAIL_RELEASES is the address of a mirror of the releases.
set -eu

repository=gctrail/gctrail
issuer=https://token.actions.githubusercontent.com
releases=${GCTRAIL_RELEASES:-https://github.com/$repository/releases/download}

fail() {
	printf 'install.sh: %s\n' "$*" >&2
	exit 1
}

usage() {
	echo 'usage: sh install.sh [--unverified] VERSION [FOLDER]' >&2
	exit 2
}

# target prints the system and the processor as names of archives have them.
target() {
	case $(uname -s) in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	MINGW* | MSYS* | CYGWIN*) os=windows ;;
	*) fail "there is no release for $(uname -s): go install github.com/$repository/cmd/gctrail@v$version" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) echo "${os}_amd64" ;;
	aarch64 | arm64) echo "${os}_arm64" ;;
	*) fail "there is no release for $(uname -m): go install github.com/$repository/cmd/gctrail@v$version" ;;
	esac
}

download() {
	curl --fail --silent --show-error --location --proto-redir =https --output "$1" "$releases/v$version/$1" || fail "cannot download $releases/v$version/$1"
}

sha256() {
	if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# verify ends the script unless the release workflow made the archive for this version. A
# verifier that refuses is final: another is used only where the first is not installed.
verify() {
	identity=https://github.com/$repository/.github/workflows/release.yml@refs/tags/v$version
	if command -v cosign >/dev/null; then
		download checksums.txt.sigstore.json
		cosign verify-blob --bundle checksums.txt.sigstore.json --certificate-identity "$identity" --certificate-oidc-issuer "$issuer" checksums.txt >&2 ||
			fail "nothing is installed: cosign could not verify that $identity signed checksums.txt"
		return
	fi
	if ! command -v gh >/dev/null; then
		missing='neither cosign nor gh is installed'
	elif ! gh attestation verify --help >/dev/null 2>&1; then
		missing='cosign is not installed, and this gh is too old to verify provenance'
	elif ! gh auth token >/dev/null 2>&1; then
		missing='cosign is not installed, and gh has no access to GitHub (gh auth login)'
	else
		# Before 2.67, gh exits with 0 if there are attestations of another kind only. Then
		# it prints no result.
		result=$(gh attestation verify "$archive" --repo "$repository" --cert-identity "$identity" --cert-oidc-issuer "$issuer" --deny-self-hosted-runners --format json) && [ -n "$result" ] ||
			fail "nothing is installed: gh could not verify that $identity built $archive"
		return
	fi
	fail "nothing is installed, because nothing here can verify who built $archive: $missing. Install cosign 2.6 or gh 2.49, or newer; with --unverified, only its checksum is compared"
}

# compare ends the script unless the archive is the one that the checksums are of.
compare() {
	want=$(awk -v name="$archive" '$2 == name { print $1 }' checksums.txt)
	[ -n "$want" ] || fail "nothing is installed: checksums.txt does not have $archive"
	[ "$(sha256 "$archive")" = "$want" ] || fail "nothing is installed: $archive does not have the checksum that checksums.txt gives"
}

unverified=
if [ "${1-}" = --unverified ]; then
	unverified=yes
	shift
fi
[ $# -ge 1 ] && [ $# -le 2 ] || usage
version=$1
case $version in
[0-9]*.[0-9]*.[0-9]*) ;;
*) usage ;;
esac
case $version in
*[!0-9A-Za-z.+-]*) usage ;;
esac
folder=${2:-$HOME/.local/bin}
mkdir -p -- "$folder"
folder=$(unset CDPATH && cd -- "$folder" && pwd) # with CDPATH, cd can find another folder of this name

target=$(target)
case $target in
windows_*) archive=gctrail_${version}_$target.zip program=gctrail.exe ;;
*) archive=gctrail_${version}_$target.tar.gz program=gctrail ;;
esac

work=$(mktemp -d)
trap 'cd / && rm -rf "$work" "$folder/.$program.$$"' EXIT # Windows removes no folder that a program is in
trap 'exit 1' HUP INT TERM
cd "$work"
download "$archive"
download checksums.txt
if [ -n "$unverified" ]; then
	echo "install.sh: nobody verified who built $archive" >&2
else
	verify
fi
compare
case $archive in
*.zip) unzip -q "$archive" "$program" ;;
*) tar -xzf "$archive" "$program" ;;
esac
chmod 755 "$program"
cp "$program" "$folder/.$program.$$"
mv -f "$folder/.$program.$$" "$folder/$program"
echo "gctrail $version is now $folder/$program"
