module github.com/gctrail/gctrail

go 1.26
