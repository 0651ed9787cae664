// Work is done in slices, so that the page answers while it computes.

const slice = 10; // milliseconds

let since = 0;
const waiting: (() => void)[] = [];
const channel = new MessageChannel();
channel.port1.onmessage = () => {
  since = performance.now();
  waiting.shift()?.();
};

/** Waits for a new task. */
export function nextTask(): Promise<void> {
  return new Promise((done) => {
    waiting.push(done);
    channel.port2.postMessage(null);
  });
}

/** Waits for a new task where this one has run for a while. */
export async function breathe(): Promise<void> {
  if (performance.now() - since > slice) await nextTask();
}
