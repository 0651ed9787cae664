// Names of types and methods as traces have them.

/** What to look for. */
export interface Name {
  /** The type or the method, without module, namespace, type arguments and parameters. */
  simple: string;
  /** The type that has the method, or the type around a nested one. */
  within: string;
  method: boolean;
}

const identifier = /^[\p{L}_][\p{L}\p{N}_]*$/u;

/** Parses a name, such as Shop.Cache+Entry<System.String>[] or Shop.Cache+<>c.<Load>b__0(int32). */
export function parse(text: string): Name | undefined {
  const name = text.trim().replace(/\s\(.*\)$/, ""); // a note on the size of arrays
  const parameters = name.indexOf("(");
  const method = parameters > 0;
  const segments = bare((method ? name.slice(0, parameters) : name).replace(/.*!/, "").replace(/(\[[,*]*\]|[*&])+$/, ""))
    .replace(/>d__\d+\.MoveNext$/, ">") // of an async method or an iterator
    .replace(/\.\.c?ctor$/, ""); // the type may declare none
  const constructor = /\.\.c?ctor\(/.test(name);
  const parts = [...split(segments)].map(written).filter((part) => part !== "");
  const simple = parts.pop();
  const within = parts.pop() ?? "";
  return simple && identifier.test(simple) && (within === "" || identifier.test(within)) ? { simple, within, method: method && !constructor } : undefined;
}

/** Removes type arguments, which follow a name: <Load>b__0 and <>c follow none. */
function bare(text: string): string {
  let out = "";
  let depth = 0;
  let closing = 0; // depths at which the compiler's brackets close
  for (const [i, c] of [...text].entries()) {
    const opens = c === "<" || c === "[";
    if (opens && depth === 0 && (i === 0 || /[.+/]/.test(text[i - 1]))) closing++;
    else if (opens) {
      depth++;
      continue;
    } else if ((c === ">" || c === "]") && depth > 0) {
      depth--;
      continue;
    } else if (c === ">" && closing > 0) closing--;
    if (depth === 0) out += c;
  }
  return out.replace(/`\d+/g, "");
}

/** Splits at dots and pluses, but not in the compiler's brackets. */
function* split(text: string): Generator<string> {
  let part = "";
  let inside = false;
  for (const c of text) {
    if (c === "<") inside = true;
    if (c === ">") inside = false;
    if (!inside && /[.+/]/.test(c)) {
      yield part;
      part = "";
    } else part += c;
  }
  yield part;
}

/** Returns the name that the source has: <Load>b__0 is in Load, <>c in no name. */
function written(part: string): string {
  if (!part.startsWith("<")) return part;
  return /^<([^<>]*)>/.exec(part)?.[1] ?? "";
}
