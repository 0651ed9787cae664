// The policy of each page: scripts by their hashes, and requests to the server of the site only.

import { createHash } from "node:crypto";

/** Returns a page with its Content-Security-Policy, before anything that it restricts. */
export function withPolicy(html: string): string {
  const inline = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map((m) => m[1]);
  const hashes = inline.map((script) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`);
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${[...new Set(hashes)].join(" ")}`.trim(),
    "style-src 'self' 'unsafe-inline'", // colours of code are attributes
    "font-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return html.replace(/<meta charset="utf-8">/, (meta) => `${meta}\n<meta http-equiv="Content-Security-Policy" content="${policy}">`);
}
