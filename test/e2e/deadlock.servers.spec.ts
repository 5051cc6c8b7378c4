import { describe, expect, it } from '@jest/globals';
import { hostname } from 'node:os';
import type { DeadlockedAcquire } from '../../lib/index.js';
import { Program } from '../faults/support/program.js';
import { useCleanup } from '../support/fixtures.js';
import { byTier } from '../support/tier.js';
import { useDeployment } from './support/deployments.js';

/** In ms. Three seconds are promised, and kept in virtual time; beside other tests a machine may be slower. */
const NAMED_WITHIN = byTier({ quick: 10_000, standard: 10_000, long: 3_000 });

/** What a process says, in the order in which it learns of it. */
type Report =
  | { readonly waitsSince: number }
  | { readonly named: readonly DeadlockedAcquire[]; readonly at: number }
  | { readonly outcome: string };

/** What a process has said of its wait. */
interface Story {
  waitsSince?: number;
  named?: readonly DeadlockedAcquire[];
  at?: number;
  outcome?: string;
}

const KEYS = ['order', 'stock', 'bill'] as const;
const METHODS = ['Orders.pay', 'Stock.reserve', 'Bills.send'] as const;

describe.each(['redis', 'zookeeper'] as const)('Three processes on %s', (backend) => {
  const deployment = useDeployment(backend);
  const cleanup = useCleanup();

  async function start(i: number): Promise<Program> {
    const options = { ...deployment().options(), onDeadlock: 'reject', name: METHODS[i] };
    const url = new URL('./programs/nesting-process.ts', import.meta.url);
    const keys = [KEYS[i]!, KEYS[(i + 1) % 3]!];
    const program = new Program(url, [JSON.stringify(options), ...keys, METHODS[i]!]);
    cleanup(program, () => program.stop());
    expect(await program.next()).toBe('held');
    return program;
  }

  async function storyOf(program: Program): Promise<Story> {
    const story: Story = {};
    while (story.outcome === undefined) Object.assign(story, await program.next<Report>());
    return story;
  }

  it('that lock in a circle learn of it, and the youngest of them gives up', async () => {
    const programs = await Promise.all(KEYS.map((_, i) => start(i)));
    for (const program of programs) program.tell('go on');
    const stories = await Promise.all(programs.map(storyOf));
    const named = stories.filter((story) => story.named !== undefined);
    expect(named).toHaveLength(1);
    const closedAt = Math.max(...stories.map(({ waitsSince }) => waitsSince!));
    const [{ at, named: circle, outcome }] = named as [Required<Story>];
    expect(at - closedAt).toBeLessThan(NAMED_WITHIN);
    expect(outcome).toBe('LOCK_DEADLOCK');
    const others = stories.filter((story) => story !== named[0]);
    expect(others.map((story) => story.outcome)).toEqual(['granted', 'granted']);

    const first = METHODS.findIndex((method) => method === circle[0]!.method);
    const inTurn = [0, 1, 2].map((i) => (first + i) % 3);
    expect(circle.map(({ client, method }) => [client, method])).toEqual(
      inTurn.map((i) => [METHODS[i], METHODS[i]]),
    );
    expect(circle.map(({ holds, waitsFor }) => [holds, waitsFor])).toEqual(
      inTurn.map((i) => [KEYS[i], KEYS[(i + 1) % 3]]),
    );
    expect(circle.map(({ host }) => host)).toEqual([undefined, hostname(), hostname()]);
    expect(new Set(circle.map(({ pid }) => pid)).size).toBe(3);

    const exits = await Promise.all(programs.map(({ exited }) => exited));
    expect(exits.map(({ code }) => code)).toEqual([0, 0, 0]);
    const { errors } = exits[first]!;
    expect(errors).toContain('Deadlock: ');
    expect(errors).toContain(`(process ${circle[1]!.pid} on ${hostname()})`);
  });
});
