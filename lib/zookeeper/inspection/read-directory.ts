import type { ObservedLock, ObservedParty } from '../../core/lock-inspection.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import {
  leaderLatchDriver,
  READ_NAME,
  readWriteSortKey,
  sortKey,
  standardLockInternalsDriver,
  WRITE_NAME,
} from '../locks/lock-drivers.js';
import { sortedNames } from '../locks/sorted-names.js';
import { listChildren } from '../nodes/node-requests.js';
import { LEASE_NAME } from '../semaphores/lease-attempt.js';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** A node in the directory of a lock. */
interface QueuedNode {
  readonly name: string;
  readonly isHolder: boolean;
  readonly mode?: 'read' | 'write';
}

/** The nodes of a mutex, or of a leader selector, in queue order: the first one holds. */
export function mutexNodes(children: readonly string[]): QueuedNode[] {
  return firstHolds(sortedNames(children, standardLockInternalsDriver.sortKey));
}

/** Whether `children` are the nodes of a leader latch. */
export function areLatches(children: readonly string[]): boolean {
  return children.some((child) => child.includes(leaderLatchDriver.lockName));
}

/** The nodes of a leader latch, in queue order: the first one leads. */
export function latchNodes(children: readonly string[]): QueuedNode[] {
  return firstHolds(sortedNames(children, leaderLatchDriver.sortKey));
}

/** Whether `children` are the nodes of a double barrier, which has no holders. */
export function areOfBarrier(children: readonly string[]): boolean {
  return children.every((child) => child === 'ready' || UUID.test(child));
}

/** Whether `children` are the nodes of a read/write lock. */
function areReadWrite(children: readonly string[]): boolean {
  return children.some((child) => child.includes(READ_NAME) || child.includes(WRITE_NAME));
}

/**
 * The nodes of a read/write lock, in queue order. The readers ahead of all writers hold. A writer holds if no node is ahead
 * of it except its own: a reader with the writer's own sequence number (see the downgrade).
 */
function readWriteNodes(children: readonly string[]): QueuedNode[] {
  const sorted = sortedNames(children, readWriteSortKey);
  const firstWriter = sorted.findIndex((child) => child.includes(WRITE_NAME));
  const isAlone = sorted
    .slice(0, Math.max(0, firstWriter))
    .every((child) => readWriteSortKey(child) === readWriteSortKey(sorted[firstWriter]!));
  const holding = firstWriter < 0 ? sorted.length : firstWriter + (isAlone ? 1 : 0);
  return sorted.map((name, i) => ({
    name,
    isHolder: i < holding,
    mode: name.includes(WRITE_NAME) ? 'write' : 'read',
  }));
}

/** The leases of a semaphore, in the order of their sequence numbers. */
function leaseNodes(children: readonly string[]): string[] {
  return sortedNames(children, (child) => sortKey(child, LEASE_NAME));
}

function firstHolds(sorted: readonly string[]): QueuedNode[] {
  return sorted.map((name, i) => ({ name, isHolder: i === 0 }));
}

/** What a node shows to an operator; nothing in it changes while the node exists, except by a request to revoke. */
interface NodeFact {
  readonly czxid: number;
  readonly owner: string;
  readonly since?: number;
  readonly data?: string;
}

/** Number of characters shown of a node's data. */
const SHOWN = 200;

/** Facts about the nodes of queues; each node is read once. */
export class NodeFacts {
  #known = new Map<string, NodeFact>();
  #next = new Map<string, NodeFact>();

  constructor(private readonly connection: ZooKeeperConnection) {}

  /** Resolves to `undefined` if the node no longer exists, or if the client may not read it. */
  async of(path: string): Promise<NodeFact | undefined> {
    const fact = this.#known.get(path) ?? (await this.#read(path));
    if (fact) this.#next.set(path, fact);
    return fact;
  }

  /** Ends a round: facts that were not requested in it are dropped. */
  turn(): void {
    this.#known = this.#next;
    this.#next = new Map();
  }

  async #read(path: string): Promise<NodeFact | undefined> {
    try {
      const { data, stat } = await this.connection.getData(path);
      const { czxid, ephemeralOwner: owner, ctime } = stat;
      return { czxid, owner, since: ctime?.getTime(), data: data.toString('utf8', 0, SHOWN) };
    } catch (error) {
      if (ZooKeeperError.is(error, ReturnCode.NONODE)) return undefined;
      if (ZooKeeperError.is(error, ReturnCode.NOAUTH)) return undefined;
      throw error;
    }
  }
}

/** What is needed to read a lock. */
interface DirectoryReader {
  readonly connection: ZooKeeperConnection;
  readonly facts: NodeFacts;
  /** Paths of nodes that are known to hold. */
  readonly held: ReadonlySet<string>;
}

/** Functions that read the children of a lock, by its kind. */
const NODES = {
  mutex: mutexNodes,
  'read/write lock': readWriteNodes,
  'leader latch': latchNodes,
};

/** Reads the lock of that directory; `undefined` if it has no holder and no waiter, or if it is not a lock. */
export async function readDirectory(
  reader: DirectoryReader,
  directory: string,
): Promise<ObservedLock | undefined> {
  const children = await listChildren(reader.connection, directory);
  const kind = kindOf(children);
  if (kind === undefined) return undefined;
  const parties =
    kind === 'semaphore'
      ? await partiesOfSemaphore(reader, directory)
      : await partiesOf(reader, directory, NODES[kind](children));
  return parties.length === 0 ? undefined : { name: directory, kind, parties };
}

function kindOf(children: readonly string[]): ObservedLock['kind'] | undefined {
  if (children.includes('leases') || children.includes('locks')) return 'semaphore';
  if (areReadWrite(children)) return 'read/write lock';
  if (areLatches(children)) return 'leader latch';
  return areOfBarrier(children) ? undefined : 'mutex'; // in which foreign nodes queue too
}

async function partiesOf(
  { facts, held }: DirectoryReader,
  directory: string,
  nodes: readonly QueuedNode[],
): Promise<ObservedParty[]> {
  const parties = nodes.map(async ({ name, isHolder, mode }) => {
    const path = `${directory}/${name}`;
    const fact = await facts.of(path);
    return fact && partyOf(path, fact, isHolder || held.has(path), mode);
  });
  const there = (await Promise.all(parties)).filter((party) => party !== undefined);
  return [...there.filter(isHeld), ...there.filter((party) => !isHeld(party))];
}

/**
 * A waiter holds the gate or queues at it. The gate's holder creates its lease node before the lease is granted, so a lease
 * that is younger than the gate's first node, and of the same session, is not held yet, unless it is known to be.
 */
async function partiesOfSemaphore(
  reader: DirectoryReader,
  directory: string,
): Promise<ObservedParty[]> {
  const { connection, facts, held } = reader;
  const [gate, leases] = await Promise.all([
    listChildren(connection, `${directory}/locks`),
    listChildren(connection, `${directory}/leases`),
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
): ObservedParty {
  if (!isHolder) return { ids: [path], state: 'waiting', mode, since, data };
  return { ids: [path], state: 'held', mode, since, data, fencingToken: String(czxid) };
}

const isHeld = ({ state }: ObservedParty) => state === 'held';
