import {
  type AclEntry,
  CreateMode,
  Permission,
  type Stat,
} from '../zookeeper/connection/zookeeper-connection.js';

const OPEN: readonly AclEntry[] = [{ perms: Permission.ALL, scheme: 'world', id: 'anyone' }];
/** A server of version 3.8 stays at the largest 32-bit number (one of version 3.5 went on at the smallest). */
const LAST_SEQUENCE = 2 ** 31 - 1;
const NO_CHILDREN: ReadonlySet<string> = new Set();

/** What a znode is made from. */
export interface ZnodeOrigin {
  readonly data: Buffer;
  readonly mode: CreateMode;
  /** Transaction that creates it. */
  readonly zxid: number;
  /** Id of the session that creates it. */
  readonly sessionId: string;
}

/** A node of the tree, and what the server knows of it. */
export class Znode {
  readonly isContainer: boolean;
  /** The session it lives with; `0`: none. */
  readonly owner: string;
  acl = OPEN;
  /** Number for the next sequential child: the count of all children ever made, up to {@link LAST_SEQUENCE}. */
  nextSequence = 0;
  #data: Buffer;
  readonly #czxid: number;
  #mzxid: number;
  #version = 0;
  #children?: Set<string>; // most nodes never have any

  constructor({ data, mode, zxid, sessionId }: ZnodeOrigin) {
    const isEphemeral = mode === CreateMode.EPHEMERAL || mode === CreateMode.EPHEMERAL_SEQUENTIAL;
    this.isContainer = mode === CreateMode.CONTAINER;
    this.owner = isEphemeral ? sessionId : '0';
    this.#data = data;
    this.#czxid = this.#mzxid = zxid;
  }

  get isEphemeral(): boolean {
    return this.owner !== '0';
  }

  get data(): Buffer {
    return this.#data;
  }

  get version(): number {
    return this.#version;
  }

  get children(): ReadonlySet<string> {
    return this.#children ?? NO_CHILDREN;
  }

  replaceData(data: Buffer, zxid: number): void {
    this.#data = data;
    this.#mzxid = zxid;
    this.#version += 1;
  }

  addChild(name: string): void {
    this.#children ??= new Set();
    this.#children.add(name);
    this.nextSequence = Math.min(this.nextSequence + 1, LAST_SEQUENCE);
  }

  removeChild(name: string): void {
    this.#children?.delete(name);
  }

  stat(): Stat {
    return {
      czxid: this.#czxid,
      mzxid: this.#mzxid,
      version: this.#version,
      ephemeralOwner: this.owner,
      numChildren: this.children.size,
    };
  }
}
