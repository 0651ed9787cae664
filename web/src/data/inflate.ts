import { breathe } from "./pause";

const step = 1 << 17; // characters of base64 at a time

/** Decodes compressed data in base64, a slice at a time. */
export async function inflateText(text: string): Promise<Uint8Array> {
  return inflate(async (write) => {
    for (let at = 0; at < text.length; at += step) {
      const part = atob(text.slice(at, at + step));
      const bytes = new Uint8Array(part.length);
      for (let i = 0; i < part.length; i++) bytes[i] = part.charCodeAt(i);
      await write(bytes);
      await breathe();
    }
  });
}

/** Decompresses some bytes. */
export async function inflateBytes(bytes: Uint8Array): Promise<Uint8Array> {
  return inflate((write) => write(bytes));
}

/** Decompresses what a server sends. */
export async function inflateStream(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return inflate(async (write) => {
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      await write(value);
    }
  });
}

async function inflate(feed: (write: (bytes: Uint8Array) => Promise<void>) => Promise<void>): Promise<Uint8Array> {
  const stream = new DecompressionStream("deflate-raw");
  const writer = stream.writable.getWriter();
  const parts: Uint8Array[] = [];
  let length = 0;
  const reading = (async () => {
    const reader = stream.readable.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parts.push(value);
      length += value.length;
    }
  })();
  const feeding = (async () => {
    await feed((bytes) => writer.write(bytes as Uint8Array<ArrayBuffer>));
    await writer.close();
  })();
  await Promise.all([reading, feeding]);
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
    await breathe();
  }
  return all;
}
