import { hostname } from 'node:os';

const US = JSON.stringify({ host: hostname(), pid: process.pid });

/** JSON that tells an operator who asks. */
export function aboutUs(method?: string): string {
  const asked = method === undefined ? '' : `,"method":${JSON.stringify(method)}`;
  return `${US.slice(0, -1)}${asked},"since":${Date.now()}}`;
}
