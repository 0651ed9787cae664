package outfile

// WebAssembly modules make no files, so that nothing is opened with these.
const noFollow, nonBlock = 0, 0
