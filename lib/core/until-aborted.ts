/** Resolves when `event` does, or as soon as `signal` aborts. */
export function untilAborted(event: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end);
    event.then(end, reject);
    if (signal.aborted) end();
  });
}
