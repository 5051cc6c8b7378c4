import type { Command, Commands } from '../command.js';
import { integerOf, rangeOf } from '../numbers.js';
import { fail, OK } from '../reply.js';

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
  rpush: pushing('push', true),
  lpush: pushing('unshift', true),
  rpushx: pushing('push', false),
  lpushx: pushing('unshift', false),
  lpop: popping('shift'),
  rpop: popping('pop'),
  lset: {
    arity: 4,
    effect: 'grow',
    run(keyspace, [key, index, element]) {
      const list = keyspace.change(key!, 'list') ?? fail('ERR no such key');
      const at = integerOf(index!);
      if (at >= list.length || at < -list.length) fail('ERR index out of range');
      list.splice(at, 1, element!);
      return OK;
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

function pushing(push: 'push' | 'unshift', makesKey: boolean): Command {
  return {
    arity: -3,
    effect: 'grow',
    run(keyspace, [key, ...elements]) {
      const list = makesKey ? keyspace.require(key!, 'list') : keyspace.change(key!, 'list');
      for (const element of elements) list?.[push](element);
      return list?.length ?? 0;
    },
  };
}

function popping(pop: 'pop' | 'shift'): Command {
  return {
    arity: 2,
    effect: 'write',
    run(keyspace, [key]) {
      const element = keyspace.change(key!, 'list')?.[pop]() ?? null;
      keyspace.tidy(key!);
      return element;
    },
  };
}
