module github.com/gctrail/gctrail

go 1.26

require pgregory.net/rapid v1.3.0

require github.com/klauspost/compress v1.20.3 // indirect
