import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import { childrenOf } from './children-of.js';
import { deleteIfThere } from './delete-if-there.js';
import type { RecipeContext } from './recipe-context.js';

const READY = 'ready';

/** The directory of a double barrier: a node for each member, and one called `ready` while it is open. */
export class BarrierDirectory {
  readonly ready: string;

  constructor(
    private readonly context: RecipeContext,
    readonly path: string,
  ) {
    this.ready = `${path}/${READY}`;
  }

  /** Names of the members, sorted; is it open? */
  async look(): Promise<{ members: string[]; isOpen: boolean }> {
    const children = await childrenOf(this.context.connection, this.path);
    const members = children.filter((name) => name !== READY).sort();
    return { members, isOpen: members.length < children.length };
  }

  async open(): Promise<void> {
    const { parents, nodeData } = this.context;
    try {
      await parents.create(this.ready, nodeData);
    } catch (error) {
      if (!ZooKeeperError.is(error, ReturnCode.NODEEXISTS)) throw error;
    }
  }

  close(): Promise<void> {
    return deleteIfThere(this.context.connection, this.ready);
  }
}
