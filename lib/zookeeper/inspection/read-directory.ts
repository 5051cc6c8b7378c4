import type { SurveyedLock, SurveyedParty } from '../../core/lock-inspection.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import { childrenOf } from '../recipes/children-of.js';
import type { NodeFact, NodeFacts } from './node-facts.js';
import {
  areLatches,
  areOfBarrier,
  areReadWrite,
  latchNodes,
  leaseNodes,
  mutexNodes,
  readWriteNodes,
  type QueuedNode,
} from './queued-nodes.js';

/** Where a lock is read. */
export interface DirectoryReader {
  readonly connection: ZooKeeperConnection;
  readonly facts: NodeFacts;
  /** Paths of nodes that are known to hold. */
  readonly held: ReadonlySet<string>;
}

/** How the children of a lock are read, by its kind. */
const NODES = {
  mutex: mutexNodes,
  'read/write lock': readWriteNodes,
  'leader latch': latchNodes,
};

/** The lock of that directory; nothing when nobody holds it or queues, or when it is none. */
export async function readDirectory(
  reader: DirectoryReader,
  directory: string,
): Promise<SurveyedLock | undefined> {
  const children = await childrenOf(reader.connection, directory);
  const kind = kindOf(children);
  if (kind === undefined) return undefined;
  const parties =
    kind === 'semaphore'
      ? await partiesOfSemaphore(reader, directory)
      : await partiesOf(reader, directory, NODES[kind](children));
  return parties.length === 0 ? undefined : { name: directory, kind, parties };
}

function kindOf(children: readonly string[]): SurveyedLock['kind'] | undefined {
  if (children.includes('leases') || children.includes('locks')) return 'semaphore';
  if (areReadWrite(children)) return 'read/write lock';
  if (areLatches(children)) return 'leader latch';
  return areOfBarrier(children) ? undefined : 'mutex'; // where strangers' nodes queue too
}

async function partiesOf(
  { facts, held }: DirectoryReader,
  directory: string,
  nodes: readonly QueuedNode[],
): Promise<SurveyedParty[]> {
  const parties = nodes.map(async ({ name, isHolder, mode }) => {
    const path = `${directory}/${name}`;
    const fact = await facts.of(path);
    return fact && partyOf(path, fact, isHolder || held.has(path), mode);
  });
  const there = (await Promise.all(parties)).filter((party) => party !== undefined);
  return [...there.filter(isHeld), ...there.filter((party) => !isHeld(party))];
}

/**
 * Who waits holds the gate or queues at it. Whoever holds the gate has made its lease before it may have it: so one that is
 * younger than the gate's first node, and of the same session, is not held yet, unless it is known to be.
 */
async function partiesOfSemaphore(
  reader: DirectoryReader,
  directory: string,
): Promise<SurveyedParty[]> {
  const { connection, facts, held } = reader;
  const [gate, leases] = await Promise.all([
    childrenOf(connection, `${directory}/locks`),
    childrenOf(connection, `${directory}/leases`),
  ]);
  const queue = mutexNodes(gate).map(({ name }) => ({ name, isHolder: false }));
  const [first] = queue;
  const inGate = first && (await facts.of(`${directory}/locks/${first.name}`));
  const holders = leaseNodes(leases).map(async (name) => {
    const path = `${directory}/leases/${name}`;
    const fact = await facts.of(path);
    const isPending = fact && inGate?.owner === fact.owner && inGate.czxid < fact.czxid;
    return fact && (!isPending || held.has(path)) ? partyOf(path, fact, true) : undefined;
  });
  const [there, waiting] = await Promise.all([
    Promise.all(holders),
    partiesOf(reader, `${directory}/locks`, queue),
  ]);
  return [...there.filter((party) => party !== undefined), ...waiting];
}

function partyOf(
  path: string,
  { czxid, since, data }: NodeFact,
  isHolder: boolean,
  mode?: 'read' | 'write',
): SurveyedParty {
  if (!isHolder) return { ids: [path], state: 'waiting', mode, since, data };
  return { ids: [path], state: 'held', mode, since, data, fencingToken: String(czxid) };
}

const isHeld = ({ state }: SurveyedParty) => state === 'held';
