/** Takes a lock however long that lasts; resolves to what gives it back. */
export type Acquire = () => Promise<() => Promise<unknown>>;

/** A library: makes a lock object of its own for a contender, on the one connection that it has. */
export type LockMaker = (key: string) => Acquire;
