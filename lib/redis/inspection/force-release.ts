import type { LockName } from '../connection/lock-name.js';
import { fairCommands } from '../recipes/fair-commands.js';
import { holdersOf } from '../recipes/holders-of.js';
import { readCommands } from '../recipes/read-commands.js';
import type { RecipeContext } from '../recipes/recipe-context.js';
import { reentrantCommands } from '../recipes/reentrant-commands.js';
import { Requests } from '../recipes/requests.js';
import { writeCommands } from '../recipes/write-commands.js';
import { permitReleaseIds } from '../scripts/permit-release-ids.js';
import { expectReady } from './expect-ready.js';

/** Takes the lock from the holder with these ids, and from nobody who came after it; resolves to whether it had it. */
export async function forceRelease(
  context: RecipeContext,
  name: LockName,
  ids: readonly string[],
): Promise<boolean> {
  expectReady(context);
  const type = await context.connection.read('type', name.raw);
  const release = type === 'string' ? releasePermits : releaseLock;
  const released = await release(context, name, ids);
  for (const hold of context.holds)
    if (hold.identity.name === name.raw && hold.backend.holders.some((id) => ids.includes(id)))
      hold.lose('an operator has released it by force');
  return released;
}

async function releaseLock(
  context: RecipeContext,
  name: LockName,
  ids: readonly string[],
): Promise<boolean> {
  const { connection } = context;
  const holders = await holdersOf(connection, name);
  let released = false;
  for (const { id, mode } of holders.filter((holder) => ids.includes(holder.id))) {
    const commands = {
      // The first wakes those who wait for a plain mutex, the second those of the queue of a fair one.
      alone: [reentrantCommands(context, name, false), fairCommands(context, name, false)],
      read: [readCommands(context, name, false)],
      write: [writeCommands(context, name, false)],
    }[mode];
    for (const each of commands) {
      const { script, keys, args } = each.release(id, '');
      if (Number(await connection.run(script, keys, args)) >= 0) released = true;
    }
  }
  return released;
}

async function releasePermits(
  context: RecipeContext,
  name: LockName,
  ids: readonly string[],
): Promise<boolean> {
  const { raw, permitTimeouts, semaphoreChannel, permitQueue } = name;
  const requests = new Requests(context, name, { key: name.raw, client: context.client });
  const permits = ids.map((id) => Buffer.from(id, 'hex'));
  const args = [context.connection.publishCommand, semaphoreChannel, ...permits];
  return (await requests.run(permitReleaseIds, [raw, permitTimeouts, permitQueue], args)) === 1;
}
