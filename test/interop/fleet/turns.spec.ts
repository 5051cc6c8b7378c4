import { describe, expect, it } from '@jest/globals';
import { Turns } from './turns.js';

describe('The turns of a fleet', () => {
  const turnsOf = ({ isOrdered = true, now = 0 } = {}) =>
    new Turns(
      ['node1.1', 'node1.2', 'node2.1', 'java1'],
      new Map([['node1', { atMost: 1, for: 100 }]]),
      isOrdered,
      now,
    );

  it('consist of the holds of one process under one grant', () => {
    const turns = turnsOf();
    turns.begin('node1.1', 1, 10);
    turns.end('node1.1', 20);
    turns.begin('node1.2', 1, 25);
    turns.end('node1.2', 40);
    turns.begin('node2.1', 2, 50);
    turns.end('node2.1', 51);
    turns.begin('node1.1', 3, 60);
    turns.end('node1.1', 61);
    expect(turns.faults).toEqual([]);
    expect(turns.share('node1')).toMatchObject({
      holds: 3,
      turns: 2,
      mostHolds: 2,
      longestTurn: 30,
    });
    expect(turns.share('node2')).toMatchObject({ holds: 1, turns: 1, mostHolds: 1 });
  });

  it('are one a hold where the grants have no number', () => {
    const turns = turnsOf({ isOrdered: false });
    for (const now of [1, 2]) {
      turns.begin('java1', -1, now);
      turns.end('java1', now);
    }
    expect(turns.faults).toEqual([]);
    expect(turns.share('java1')).toMatchObject({ holds: 2, turns: 2, longestTurn: 0 });
  });

  it('show how long a worker waited since it had ended its hold, and how many turns others had', () => {
    const turns = turnsOf({ now: 5 });
    turns.begin('java1', 1, 10);
    turns.end('java1', 20);
    turns.begin('node1.1', 2, 30);
    turns.begin('node1.2', 2, 40);
    turns.begin('node2.1', 3, 50);
    turns.begin('java1', 4, 70);
    turns.end('java1', 71);
    turns.begin('java1', 5, 72);
    expect(turns.share('java1')).toMatchObject({ longestWait: 50, mostPassed: 2 });
    expect(turns.share('node1')).toMatchObject({ longestWait: 35 });
  });

  it('have a fault when a lock is handed on more often than its bound says, once for each turn', () => {
    const turns = turnsOf();
    for (const now of [1, 2, 3, 4]) turns.begin('node1.1', 1, now);
    expect(turns.faults).toEqual(['node1 had more than 2 holds in a turn']);
  });

  it('have a fault when a process without bounds hands the lock on', () => {
    const turns = turnsOf();
    for (const now of [1, 2]) turns.begin('java1', 1, now);
    expect(turns.faults).toEqual(['java1 had more than 1 holds in a turn']);
  });

  it('have a fault when a process goes on with a grant after another one had the lock', () => {
    const turns = turnsOf({ isOrdered: false });
    turns.begin('node1.1', 7, 1);
    turns.begin('node2.1', 7, 2);
    expect(turns.faults).toEqual([]);
    turns.begin('node1.2', 7, 3);
    expect(turns.faults).toEqual(['node1 with grant 7 went on after its turn']);
  });

  it('have a fault when the servers grant out of order', () => {
    const turns = turnsOf();
    turns.begin('node1.1', 2, 1);
    turns.begin('node2.1', 1, 2);
    expect(turns.faults).toEqual(['node2 with grant 1 came behind 2']);
  });
});
