import type { RushResult } from './rush/rush-result.js';

/** How long a call of the seat store takes in the comparison, in milliseconds. */
const LATENCY = 5;

/** Starts a rush, as the button on the page does, and waits for its end. */
export async function requestRush(
  url: string,
  locked: boolean,
  signal: AbortSignal,
): Promise<RushResult> {
  const response = await fetch(`${url}/rushes?locked=${locked}&latency=${LATENCY}`, {
    method: 'POST',
    signal,
  });
  if (!response.ok) throw new Error(`the rush failed: ${await response.text()}`);
  return response.json() as Promise<RushResult>;
}
