import { channel, type Channel } from 'node:diagnostics_channel';
import type { LockEvents } from './lock-events.js';

const EVENTS = ['acquired', 'contended', 'released', 'lost', 'failed', 'connection'] as const;

/** The diagnostics channels of this process, by the event that they tell. Kept, as Node forgets those that nobody keeps. */
export const lockChannels = Object.fromEntries(
  EVENTS.map((event) => [event, channel(`nestjs-interlock:${event}`)]),
) as Readonly<Record<keyof LockEvents, Channel>>;
