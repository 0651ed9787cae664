// The columns of lists of objects. Made of gctrail objects by go generate ./internal/cli.

export const objectColumns = {
  pid: { label: "pid", term: "pid" },
  number: { label: "number", term: "collection" },
  objects: { label: "objects", term: "objects" },
  bytes: { label: "bytes", term: "bytes" },
  retained_bytes: { label: "retained", term: "retained" },
  type: { label: "type", term: "type" },
  module: { label: "module", term: "module" },
  generation: { label: "generation", term: "generation" },
  roots: { label: "roots", term: "roots" },
  root: { label: "root", term: "root" },
  address: { label: "address", term: "address" },
  path: { label: "path", term: "path" },
};
