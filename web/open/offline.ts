// The service worker: keeps the files of this page, and answers with them, so that the page
// opens without a network. It asks for nothing else.

interface Extendable extends Event {
  waitUntil(done: Promise<unknown>): void;
}

interface Fetching extends Event {
  request: Request;
  respondWith(response: Promise<Response>): void;
}

/** What the program that packs the page writes before this script. */
declare const version: string;
declare const files: string[];

const scope = self as unknown as { skipWaiting(): Promise<void>; clients: { claim(): Promise<void> }; registration: { scope: string } };
const prefix = "gctrail ";
const name = prefix + version;

addEventListener("install", (event) => {
  const fill = async () => {
    // Not those that the browser has, which may be of an earlier version.
    await (await caches.open(name)).addAll(files.map((file) => new Request(file, { cache: "reload" })));
    await scope.skipWaiting();
  };
  (event as Extendable).waitUntil(fill());
});

addEventListener("activate", (event) => {
  const clean = async () => {
    for (const old of await caches.keys()) if (old.startsWith(prefix) && old !== name) await caches.delete(old);
    await scope.clients.claim();
  };
  (event as Extendable).waitUntil(clean());
});

addEventListener("fetch", (event) => {
  const { request } = event as Fetching;
  if (request.method !== "GET" || !request.url.startsWith(scope.registration.scope)) return;
  const answer = async () => (await (await caches.open(name)).match(request, { ignoreSearch: true })) ?? fetch(request);
  (event as Fetching).respondWith(answer());
});

export {}; // its names are its own
