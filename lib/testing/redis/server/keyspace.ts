import { Errors, fail } from './reply.js';
import { SortedSet } from './sorted-set.js';

interface Values {
  readonly string: string;
  readonly hash: Map<string, string>;
  readonly list: string[];
  readonly zset: SortedSet;
}

export type Type = keyof Values;

/** The value of a key, and when it ends; `Infinity`: never. */
export type Entry = {
  [T in Type]: { readonly type: T; value: Values[T]; expiresAt: number };
}[Type];

/** The keys of a server with their values. A key without members is deleted. */
export class Keyspace {
  #entries = new Map<string, Entry>();
  /** The keys that were changed since it was last emptied. */
  readonly changed = new Set<string>();

  /** @param now milliseconds since 1970 */
  constructor(readonly now: () => number) {}

  /** The keys that have not expired. */
  get keys(): string[] {
    return [...this.#entries.keys()].filter((key) => this.entry(key));
  }

  entry(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.expiresAt >= this.now()) return entry;
    this.#entries.delete(key);
    return undefined;
  }

  /** How many elements it has; none where there is no such key. */
  sizeOf(key: string): number {
    const value = this.entry(key)?.value ?? '';
    return typeof value === 'object' ? lengthOf(value) : 0;
  }

  /** The value of a key of that type, to be read only; `undefined` if there is none. @throws if it is of another type */
  read<T extends Type>(key: string, type: T): Values[T] | undefined {
    const entry = this.entry(key);
    if (entry === undefined) return undefined;
    if (entry.type !== type) fail(Errors.type);
    return entry.value as Values[T];
  }

  /** As `read`, to be changed. */
  change<T extends Type>(key: string, type: T): Values[T] | undefined {
    const value = this.read(key, type);
    if (value !== undefined) this.changed.add(key);
    return value;
  }

  /** As `change`; makes the key if there is none. */
  require<T extends 'hash' | 'list' | 'zset'>(key: string, type: T): Values[T] {
    const found = this.change(key, type);
    if (found !== undefined) return found;
    const empty = { hash: new Map<string, string>(), list: [], zset: new SortedSet() };
    const value = empty[type] as Values[T];
    this.put(key, { type, value, expiresAt: Infinity } as Entry);
    return value;
  }

  put(key: string, entry: Entry): void {
    this.changed.add(key);
    this.#entries.set(key, entry);
  }

  /** Sets the text of a string; its end stays. */
  setText(key: string, value: string): void {
    const expiresAt = this.entry(key)?.expiresAt ?? Infinity;
    this.put(key, { type: 'string', value, expiresAt });
  }

  expire(key: string, expiresAt: number): void {
    const entry = this.entry(key);
    if (entry === undefined) return;
    this.changed.add(key);
    if (expiresAt <= this.now()) this.#entries.delete(key);
    else entry.expiresAt = expiresAt;
  }

  delete(key: string): boolean {
    if (this.entry(key) === undefined) return false;
    this.changed.add(key);
    return this.#entries.delete(key);
  }

  /** Deletes the key if nothing is left in it. */
  tidy(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.type === 'string') return;
    if (lengthOf(entry.value) === 0) this.#entries.delete(key);
  }

  /** Takes over what another one has. */
  copyFrom(other: Keyspace): void {
    this.#entries = new Map([...other.#entries].map(([key, entry]) => [key, copyOf(entry)]));
  }

  /** Takes over one key of another one. */
  apply(key: string, entry: Entry | undefined): void {
    if (entry === undefined) this.#entries.delete(key);
    else this.#entries.set(key, copyOf(entry));
  }

  clear(): void {
    this.#entries.clear();
  }
}

const lengthOf = (value: Values['hash' | 'list' | 'zset']) =>
  'size' in value ? value.size : value.length;

export function copyOf(entry: Entry): Entry {
  const { type, value, expiresAt } = entry;
  switch (type) {
    case 'string':
      return { type, value, expiresAt };
    case 'hash':
      return { type, value: new Map(value), expiresAt };
    case 'list':
      return { type, value: [...value], expiresAt };
    case 'zset':
      return { type, value: value.copy(), expiresAt };
  }
}
