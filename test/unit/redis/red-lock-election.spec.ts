import { describe, expect, it } from '@jest/globals';
import { LockConnectionError } from '../../../lib/core/errors/index.js';
import type { SentCommand } from './fake-node.js';
import { RedLockOnFakes } from './red-lock/red-lock-on-fakes.js';

const TIMEOUT = 1_000;

describe('The leader of an election on five servers', () => {
  const connect = async () => {
    const { fakes, client } = await RedLockOnFakes.connect({ nodeTimeout: TIMEOUT });
    return { fakes, election: client.leaderLatch('chair', { id: 'me' }) };
  };
  /** The questions that were sent, one to each server that was asked. */
  const asked = ({ nodes }: RedLockOnFakes): SentCommand[] =>
    nodes.flatMap(({ sent }) => sent.filter(({ name }) => name === 'hgetall'));
  /** What the server of that number says when it knows `id` for the leader; on each the holder has another name. */
  const known = (id: string, server: number) => [
    `uuid-${server}:7`,
    '1',
    'nestjs-interlock',
    JSON.stringify({ host: 'web', pid: 1, method: id, since: 0 }),
  ];

  it('is reported as soon as a majority knows, whatever the others do', async () => {
    const { fakes, election } = await connect();
    const leader = election.leader();
    asked(fakes).forEach((question, i) => i > 1 && question.answer(known('you', i)));
    expect(await fakes.clock.runUntil(leader)).toEqual({ id: 'you', isLeader: true });
    expect([asked(fakes).length, fakes.clock.now()]).toEqual([5, 0]);
  });

  it('is not asked of servers that are not connected', async () => {
    const { fakes, election } = await connect();
    for (const node of fakes.nodes.slice(3)) node.becomes('close');
    const participants = election.participants();
    expect(asked(fakes)).toHaveLength(3);
    asked(fakes).forEach((question, i) => question.answer(known('you', i)));
    expect(await fakes.clock.runUntil(participants)).toEqual([{ id: 'you', isLeader: true }]);
  });

  it('is undefined where no majority says the same', async () => {
    const { fakes, election } = await connect();
    const leader = election.leader();
    asked(fakes).forEach((question, i) =>
      question.answer(i === 4 ? [] : known(i < 2 ? 'you' : 'somebody else', i)),
    );
    expect(await fakes.clock.runUntil(leader)).toBeUndefined();
  });

  it('is undefined where a majority knows of none, and the others say nothing in time', async () => {
    const { fakes, election } = await connect();
    const leader = election.leader();
    asked(fakes).forEach((question, i) => i < 3 && question.answer([]));
    expect(await fakes.clock.runUntil(leader)).toBeUndefined();
    expect([fakes.clock.now(), fakes.clock.isIdle]).toEqual([TIMEOUT, true]);
  });

  it('is refused when too few answer in time to know', async () => {
    const { fakes, election } = await connect();
    const leader = election.leader();
    asked(fakes).forEach((question, i) => i < 2 && question.answer(known('you', i)));
    const refused = expect(leader).rejects.toThrow(/Fewer than 3 of the 5 servers/);
    await fakes.clock.advance(TIMEOUT);
    await refused;
    await expect(leader).rejects.toBeInstanceOf(LockConnectionError);
    await expect(leader).rejects.toMatchObject({ key: 'chair', client: 'test' });
  });

  it('is refused at once, with the reason, when too many of them refuse', async () => {
    const { fakes, election } = await connect();
    const leader = election.leader();
    leader.catch(() => {});
    asked(fakes).forEach((question, i) =>
      i < 3 ? question.refuse('WRONGTYPE not a hash') : question.answer([]),
    );
    await fakes.clock.advance(0);
    await expect(leader).rejects.toMatchObject({
      code: 'LOCK_CONNECTION',
      cause: { message: 'WRONGTYPE not a hash' },
    });
  });
});
