package cli

var figures = []figure{}
