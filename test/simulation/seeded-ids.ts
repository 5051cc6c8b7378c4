import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { seededRandom } from '../support/seeded-random.js';

/**
 * Makes all that is random in this process depend on the seed: also what the library takes from `Math.random` and from
 * `node:crypto`, as the ids of holders decide which of two that came at the same time is first. For a process of its own.
 */
export function seedIds(seed: number): void {
  drawFrom(seededRandom(seed));
}

let draw: (() => number) | undefined;

/** The same, from that source. */
export function drawFrom(source: () => number): void {
  const isNew = draw === undefined;
  draw = source;
  if (isNew) replaceRandom(() => draw!());
}

function replaceRandom(random: () => number): void {
  const bytes = (size: number) =>
    Buffer.from(Array.from({ length: size }, () => Math.floor(random() * 256)));
  Math.random = random;
  const uuid = () => {
    const hex = bytes(16).toString('hex');
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  };
  Object.assign(crypto, { randomUUID: uuid, randomBytes: bytes });
  syncBuiltinESMExports();
}
