#!/bin/sh
#
# Writes the files that packages have beside the program to a folder: manual pages,
# completions, and the agent's unit for the place where packages put the program.
#
#     sh deploy/package/files.sh FOLDER

set -eu
folder=$1
rm -rf "$folder"
mkdir -p "$folder/completions" "$folder/man-gz"
CGO_ENABLED=0 go build -trimpath -ldflags="-s -w -buildid=" -o "$folder/gctrail" ./cmd/gctrail # as the release is
"$folder/gctrail" man "$folder/man"
for page in "$folder"/man/*.1; do
	gzip -9nc "$page" >"$folder/man-gz/${page##*/}.gz"
done
"$folder/gctrail" completion bash >"$folder/completions/gctrail.bash"
"$folder/gctrail" completion zsh >"$folder/completions/gctrail.zsh"
"$folder/gctrail" completion fish >"$folder/completions/gctrail.fish"
"$folder/gctrail" completion powershell >"$folder/completions/gctrail.ps1"
sed -e '/^# .*Install as/d' -e 's|/usr/local/bin/|/usr/bin/|' examples/agent/gctrail-agent.service >"$folder/gctrail-agent.service"
