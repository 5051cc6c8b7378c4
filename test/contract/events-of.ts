import type { StageClient } from './stage-client.js';

const KINDS = ['acquired', 'contended', 'released', 'lost', 'failed'] as const;

/** Everything that the client reports of its locks from now on. */
export function eventsOf({ locks }: StageClient): { kind: string; key: string }[] {
  const heard: { kind: string; key: string }[] = [];
  for (const kind of KINDS) locks.on(kind, (event) => heard.push({ kind, ...event }));
  return heard;
}
