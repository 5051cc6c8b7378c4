import { describe, expect, it } from '@jest/globals';
import { connectionLogger } from '../../../lib/connection-logger.js';

describe('The log of a connection', () => {
  const logOf = (...events: [state: string, reason: string][]): string[] => {
    const lines: string[] = [];
    const at = (level: string) => (line: string) => void lines.push(`${level}: ${line}`);
    const logger = { log: at('log'), warn: at('warn'), error: at('error') };
    const listen = connectionLogger(logger, 'orders');
    for (const [state, reason] of events) listen({ state, reason });
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
      'warn: Lock client "orders" cannot connect: zk1:2181: refused',
      'log: Lock client "orders": CONNECTED (session 0x1)',
      'warn: Lock client "orders": SUSPENDED (zk1:2181: no answer)',
      'warn: Lock client "orders" cannot connect: zk2:2181: refused',
      'log: Lock client "orders": RECONNECTED (session 0x1)',
      'warn: Lock client "orders": SUSPENDED (zk2:2181: no answer)',
      'error: Lock client "orders": LOST (no answer for 30000 ms); all its locks are lost',
      'warn: Lock client "orders" cannot connect: zk1:2181: refused',
      'log: Lock client "orders": RECONNECTED (session 0x2)',
    ]);
  });
});
