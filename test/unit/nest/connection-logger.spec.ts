import { describe, expect, it } from '@jest/globals';
import { connectionLogger } from '../../../lib/clients/lock.orchestrator.js';

describe('The log of a connection', () => {
  const logOf = (...events: [state: string, reason: string, server?: number][]): string[] => {
    const lines: string[] = [];
    const at = (level: string) => (line: string) => void lines.push(`${level}: ${line}`);
    const logger = { log: at('log'), warn: at('warn'), error: at('error') };
    const listen = connectionLogger(logger, 'orders');
    for (const [state, reason, server] of events) listen({ state, reason, server });
    return lines;
  };

  it('is quiet about what is well, warns of what may pass, and shouts about lost locks', () => {
    expect(
      logOf(
        ['CONNECTING', 'zk1:2181: refused'],
        ['CONNECTED', 'session 0x1'],
        ['SUSPENDED', 'zk1:2181: no answer'],
        ['SUSPENDED', 'zk2:2181: refused'],
        ['RECONNECTED', 'session 0x1'],
        ['SUSPENDED', 'zk2:2181: no answer'],
        ['LOST', 'no answer for 30000 ms'],
        ['LOST', 'zk1:2181: refused'],
        ['RECONNECTED', 'session 0x2'],
        ['CLOSED', 'closed by its owner'],
      ),
    ).toEqual([
      'warn: Lock client "orders" cannot connect: zk1:2181: refused; it goes on trying',
      'log: Lock client "orders": CONNECTED (session 0x1)',
      'warn: Lock client "orders": SUSPENDED (zk1:2181: no answer)',
      'warn: Lock client "orders" cannot connect: zk2:2181: refused; it goes on trying',
      'log: Lock client "orders": RECONNECTED (session 0x1)',
      'warn: Lock client "orders": SUSPENDED (zk2:2181: no answer)',
      'error: Lock client "orders": LOST (no answer for 30000 ms); all its locks are lost',
      'warn: Lock client "orders" cannot connect: zk1:2181: refused; it goes on trying',
      'log: Lock client "orders": RECONNECTED (session 0x2)',
    ]);
  });

  it('reports only the first of many failed attempts, and again after a change', () => {
    expect(
      logOf(
        ['CONNECTING', 'zk1:2181: refused'],
        ['CONNECTING', 'zk2:2181: refused'],
        ['CONNECTING', 'zk1:2181: refused'],
        ['CONNECTED', 'session 0x1'],
        ['SUSPENDED', 'zk1:2181: no answer'],
        ['SUSPENDED', 'zk1:2181: refused'],
        ['SUSPENDED', 'zk2:2181: refused'],
        ['RECONNECTED', 'session 0x1'],
      ),
    ).toEqual([
      'warn: Lock client "orders" cannot connect: zk1:2181: refused; it goes on trying',
      'log: Lock client "orders": CONNECTED (session 0x1)',
      'warn: Lock client "orders": SUSPENDED (zk1:2181: no answer)',
      'warn: Lock client "orders" cannot connect: zk1:2181: refused; it goes on trying',
      'log: Lock client "orders": RECONNECTED (session 0x1)',
    ]);
  });

  it('reports the change of each of several servers', () => {
    const closed = (server: number) =>
      ['SUSPENDED', `server ${server} of 3: connection closed`, server] as const;
    expect(
      logOf([...closed(1)], [...closed(2)], [...closed(3)], [...closed(1)], [...closed(1)]),
    ).toEqual([
      'warn: Lock client "orders": SUSPENDED (server 1 of 3: connection closed)',
      'warn: Lock client "orders": SUSPENDED (server 2 of 3: connection closed)',
      'warn: Lock client "orders": SUSPENDED (server 3 of 3: connection closed)',
      'warn: Lock client "orders" cannot connect: server 1 of 3: connection closed; it goes on trying',
    ]);
  });

  it('reports once that a server refuses, and once that it no longer does', () => {
    expect(
      logOf(['CONNECTED', 'the servers answer'], ['REFUSED', 'OOM'], ['CONNECTED', 'it is over']),
    ).toEqual([
      'log: Lock client "orders": CONNECTED (the servers answer)',
      'warn: Lock client "orders": REFUSED (OOM)',
      'log: Lock client "orders": CONNECTED (it is over)',
    ]);
  });
});
