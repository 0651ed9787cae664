package outfile

// A browser has no files, so that nothing is opened with these.
const noFollow, nonBlock = 0, 0
