import type { Command } from '../command.js';
import type { Keyspace } from '../keyspace.js';
import { floatOf, textOf } from '../numbers.js';
import { Errors, fail, type Reply } from '../reply.js';

const OPTIONS = new Set(['nx', 'xx', 'gt', 'lt', 'ch', 'incr']);

/** `ZADD`, and what of it is `ZINCRBY`. */
export const zadd: Command = {
  arity: -4,
  effect: 'grow',
  run(keyspace, [key, ...words]) {
    const first = words.findIndex((word) => !OPTIONS.has(word.toLowerCase()));
    const options = new Set(words.slice(0, Math.max(first, 0)).map((word) => word.toLowerCase()));
    const pairs = first < 0 ? [] : words.slice(first);
    validate(options, pairs);
    const scores = pairs.filter((_, i) => i % 2 === 0).map((score) => floatOf(score));
    const members = pairs.filter((_, i) => i % 2 === 1);
    return add(keyspace, key!, options, scores, members);
  },
};

function validate(options: ReadonlySet<string>, pairs: readonly string[]): void {
  const [nx, xx, gt, lt] = ['nx', 'xx', 'gt', 'lt'].map((option) => options.has(option));
  if (pairs.length === 0 || pairs.length % 2 === 1) fail(Errors.syntax);
  if (nx && xx) fail('ERR XX and NX options at the same time are not compatible');
  if ((gt && nx) || (lt && nx) || (gt && lt))
    fail('ERR GT, LT, and/or NX options at the same time are not compatible');
  if (options.has('incr') && pairs.length > 2)
    fail('ERR INCR option supports a single increment-element pair');
}

function add(
  keyspace: Keyspace,
  key: string,
  options: ReadonlySet<string>,
  scores: readonly number[],
  members: readonly string[],
): Reply {
  const isIncrement = options.has('incr');
  let [added, updated] = [0, 0];
  let last: number | null = null;
  if (options.has('xx') && keyspace.read(key, 'zset') === undefined) return isIncrement ? null : 0;
  const set = keyspace.require(key, 'zset');
  try {
    members.forEach((member, i) => {
      const before = set.score(member);
      if (options.has(before === undefined ? 'xx' : 'nx')) return;
      const score = isIncrement ? (before ?? 0) + scores[i]! : scores[i]!;
      if (Number.isNaN(score)) fail('ERR resulting score is not a number (NaN)');
      if (before !== undefined && options.has('gt') && score <= before) return;
      if (before !== undefined && options.has('lt') && score >= before) return;
      last = score;
      if (before === undefined) added += 1;
      else if (before !== score) updated += 1;
      if (before !== score) set.set(member, score);
    });
  } finally {
    keyspace.tidy(key);
  }
  if (isIncrement) return last === null ? null : textOf(last);
  return options.has('ch') ? added + updated : added;
}
