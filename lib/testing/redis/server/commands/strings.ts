import type { Commands } from '../command.js';
import type { Keyspace } from '../keyspace.js';
import { integerOf, rangeOf, sumOf } from '../numbers.js';
import { Errors, fail, OK, type Reply } from '../reply.js';

/** Commands of strings, among them numbers. */
export const stringCommands: Commands = {
  get: { arity: 2, run: (keyspace, [key]) => keyspace.read(key!, 'string') ?? null },
  getrange: {
    arity: 4,
    run(keyspace, [key, first, last]) {
      const [from, to] = [integerOf(first!), integerOf(last!)];
      const text = keyspace.read(key!, 'string') ?? '';
      if (from < 0 && to < 0 && from > to) return '';
      const end = to < 0 ? Math.max(to + text.length, 0) : to; // the first character is before none
      return text.slice(...rangeOf(from, end, text.length));
    },
  },
  strlen: { arity: 2, run: (keyspace, [key]) => (keyspace.read(key!, 'string') ?? '').length },
  append: {
    arity: 3,
    effect: 'grow',
    run(keyspace, [key, more]) {
      const text = (keyspace.read(key!, 'string') ?? '') + more!;
      keyspace.setText(key!, text);
      return text.length;
    },
  },
  getdel: {
    arity: 2,
    effect: 'write',
    run(keyspace, [key]) {
      const text = keyspace.read(key!, 'string') ?? null;
      keyspace.delete(key!);
      return text;
    },
  },
  set: { arity: -3, effect: 'grow', run: set },
  setnx: {
    arity: 3,
    effect: 'grow',
    run: (keyspace, [key, value]) => Number(set(keyspace, [key!, value!, 'nx']) === OK),
  },
  setex: settingFor('setex', 1_000),
  psetex: settingFor('psetex', 1),
  incr: counting(2, false),
  decr: counting(2, true),
  incrby: counting(3, false),
  decrby: counting(3, true),
};

function counting(arity: number, isNegated: boolean): Commands[string] {
  return {
    arity,
    effect: 'grow',
    run(keyspace, [key, by = '1']) {
      integerOf(by);
      const sum = sumOf(keyspace.read(key!, 'string') ?? '0', by, isNegated);
      keyspace.setText(key!, sum);
      return Number(sum);
    },
  };
}

/** @param unit of the time, in ms */
function settingFor(name: string, unit: number): Commands[string] {
  return {
    arity: 4,
    effect: 'grow',
    run(keyspace, [key, time, value]) {
      const number = integerOf(time!);
      if (number <= 0) fail(`ERR invalid expire time in '${name}' command`);
      return set(keyspace, [key!, value!, 'px', String(number * unit)]);
    },
  };
}

/** The options of `SET`. */
interface SetOptions {
  readonly expiresAt?: number;
  readonly keepsEnd: boolean;
  readonly condition?: 'nx' | 'xx';
}

function set(keyspace: Keyspace, [key, value, ...words]: readonly string[]): Reply {
  const { expiresAt = Infinity, keepsEnd, condition } = optionsOf(keyspace, words);
  const found = keyspace.entry(key!);
  if (condition !== undefined && (condition === 'nx') === (found !== undefined)) return null;
  const end = keepsEnd && found ? found.expiresAt : expiresAt;
  keyspace.put(key!, { type: 'string', value: value!, expiresAt: end });
  return OK;
}

function optionsOf(keyspace: Keyspace, words: readonly string[]): SetOptions {
  let expiry: [word: string, number: string] | undefined;
  let keepsEnd = false;
  let condition: 'nx' | 'xx' | undefined;
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!.toLowerCase();
    if (['px', 'ex', 'pxat'].includes(word) && !expiry && !keepsEnd && i + 1 < words.length)
      expiry = [word, words[++i]!];
    else if (word === 'keepttl' && !expiry) keepsEnd = true;
    else if ((word === 'nx' || word === 'xx') && (condition ?? word) === word) condition = word;
    else fail(Errors.syntax);
  }
  if (expiry === undefined) return { keepsEnd, condition };
  const number = integerOf(expiry[1]);
  if (number <= 0) fail("ERR invalid expire time in 'set' command");
  if (expiry[0] === 'pxat') return { keepsEnd, condition, expiresAt: number };
  const ms = expiry[0] === 'ex' ? number * 1_000 : number;
  return { keepsEnd, condition, expiresAt: keyspace.now() + ms };
}
