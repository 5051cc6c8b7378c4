import type { Commands } from '../command.js';
import { integerOf, rangeOf } from '../numbers.js';
import { OK } from '../reply.js';

/** Commands of lists. */
export const listCommands: Commands = {
  llen: { arity: 2, run: (keyspace, [key]) => keyspace.read(key!, 'list')?.length ?? 0 },
  lindex: {
    arity: 3,
    run(keyspace, [key, index]) {
      const list = keyspace.read(key!, 'list');
      return list === undefined ? null : (list.at(integerOf(index!)) ?? null);
    },
  },
  lrange: {
    arity: 4,
    run(keyspace, [key, first, last]) {
      const [from, to] = [integerOf(first!), integerOf(last!)];
      const list = keyspace.read(key!, 'list') ?? [];
      return list.slice(...rangeOf(from, to, list.length));
    },
  },
  lpos: {
    arity: 3,
    run(keyspace, [key, element]) {
      const place = keyspace.read(key!, 'list')?.indexOf(element!) ?? -1;
      return place < 0 ? null : place;
    },
  },
  rpush: {
    arity: -3,
    effect: 'grow',
    run: (keyspace, [key, ...elements]) => keyspace.require(key!, 'list').push(...elements),
  },
  lpop: {
    arity: 2,
    effect: 'write',
    run(keyspace, [key]) {
      const element = keyspace.change(key!, 'list')?.shift() ?? null;
      keyspace.tidy(key!);
      return element;
    },
  },
  lrem: {
    arity: 4,
    effect: 'write',
    run(keyspace, [key, count, element]) {
      const most = integerOf(count!);
      const list = keyspace.change(key!, 'list') ?? [];
      let removed = 0;
      const isLeft = () => most === 0 || removed < Math.abs(most);
      for (let i = 0; i < list.length && isLeft(); i++) {
        const place = most < 0 ? list.length - 1 - i : i;
        if (list[place] !== element) continue;
        list.splice(place, 1);
        removed += 1;
        i -= 1;
      }
      keyspace.tidy(key!);
      return removed;
    },
  },
  ltrim: {
    arity: 4,
    effect: 'write',
    run(keyspace, [key, first, last]) {
      const [from, to] = [integerOf(first!), integerOf(last!)];
      const list = keyspace.change(key!, 'list');
      list?.splice(0, Infinity, ...list.slice(...rangeOf(from, to, list.length)));
      keyspace.tidy(key!);
      return OK;
    },
  },
};
