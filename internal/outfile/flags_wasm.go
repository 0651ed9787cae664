package outfile

// What runs as WebAssembly makes no files, so that nothing is opened with these.
const noFollow, nonBlock = 0, 0
