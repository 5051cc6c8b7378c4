import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PipelinedLink } from '../../../lib/zookeeper/connection/pipelined-link.js';
import type { Reply, Request } from '../../../lib/zookeeper/connection/transport.js';
import { ReturnCode } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import { VirtualClock } from '../../support/time.js';

const WINDOW = 1_000;
const PATIENCE = 24_000;

describe('The requests of a connection', () => {
  let clock: VirtualClock;
  let sent: { request: Request; reply: Reply }[];
  let answeredAt: number[];
  let lost: string[];
  let link: PipelinedLink;

  beforeEach(() => {
    clock = new VirtualClock();
    sent = [];
    answeredAt = [];
    lost = [];
    const below = {
      request: (request: Request, reply: Reply) => void sent.push({ request, reply }),
      detach: () => {},
      close: () => {},
    };
    link = new PipelinedLink(
      below,
      clock,
      (sentAt) => answeredAt.push(sentAt),
      (reason) => void lost.push(reason),
    );
  });
  afterEach(() => link.close());

  const read = (n: number) => link.send({ op: 'exists', path: `/${n}`, watch: false });
  const burst = (count: number) => {
    const all = Array.from({ length: count }, (_, n) => read(n));
    for (const each of all) each.catch(() => {});
    return all;
  };
  const answer = (n: number) => sent[n]!.reply(ReturnCode.OK);
  const pathsFrom = (n: number) => sent.slice(n).map(({ request }) => request.path);

  it('wait, in order, while a thousand are unanswered', async () => {
    const all = burst(3_000);
    expect(sent).toHaveLength(WINDOW);
    for (let n = 0; n < 3_000; n++) {
      answer(n);
      expect(sent).toHaveLength(Math.min(3_000, WINDOW + n + 1));
    }
    await Promise.all(all);
    expect(pathsFrom(0)).toEqual(Array.from({ length: 3_000 }, (_, n) => `/${n}`));
  });

  it('count from the time at which they were sent, not from that at which they began to wait', async () => {
    void burst(WINDOW + 1);
    await clock.advance(500);
    answer(0);
    for (let n = 1; n <= WINDOW; n++) answer(n);
    expect(answeredAt.filter((at) => at === 0)).toHaveLength(WINDOW);
    expect(answeredAt.at(-1)).toBe(500);
  });

  it('that still wait when the connection is lost were not carried out; the others may have been', async () => {
    const all = burst(WINDOW + 1);
    link.detach(undefined);
    await expect(all[0]).rejects.toMatchObject({ rc: ReturnCode.CONNECTIONLOSS, maybeDone: true });
    await expect(all[WINDOW]).rejects.toMatchObject({ maybeDone: false });
    answer(0); // too late
    expect(sent).toHaveLength(WINDOW);
  });

  it('do not delay the sign of life', async () => {
    link.watch(PATIENCE);
    void burst(3_000);
    await clock.advance(PATIENCE / 6 + 1);
    expect(sent).toHaveLength(WINDOW + 1);
    expect(sent.at(-1)!.request.op).toBe('sync');
    for (let n = 0; n <= WINDOW; n++) answer(n);
    expect(pathsFrom(WINDOW + 1)[0]).toBe(`/${WINDOW}`);
  });

  it('end the connection when none is answered for a third of the patience', async () => {
    link.watch(PATIENCE);
    void burst(10);
    await clock.advance(PATIENCE / 3 - 1);
    expect(lost).toEqual([]);
    await clock.advance(10);
    expect(lost).toEqual([expect.stringContaining('no answer')]);
  });

  it('do not end a busy connection, however long the last of them waits', async () => {
    link.watch(PATIENCE);
    void burst(900);
    for (let n = 0; n < 900; n++) {
      await clock.advance(PATIENCE / 900);
      answer(n);
    }
    expect(lost).toEqual([]);
  });

  it('end a connection that answers, but not the oldest of them, as to one cut off from the leader', async () => {
    link.watch(PATIENCE);
    link.send({ op: 'delete', path: '/a', version: -1 }).catch(() => {});
    void burst(100);
    for (let n = 1; n < 100 && lost.length === 0; n++) {
      await clock.advance(PATIENCE / 100);
      answer(n);
    }
    expect(lost).toHaveLength(1);
    expect(clock.now()).toBeLessThan(PATIENCE / 2);
  });
});
