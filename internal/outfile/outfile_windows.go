package outfile

const noFollow = 0

func asRoot() bool { return false }

func shared(string) bool { return false }
