interface Client {
  readonly name: string;
}

interface User<C> {
  readonly client: C;
  /** Users of one kind do the same. */
  readonly kind: string;
}

/**
 * Which users and clients differ only in their names: users of one client that do the same, and clients whose users do the same. A run is the
 * same under other names. Of all those, the one is explored in which they take their turns in the order of their names: users when they
 * first act, clients when the server first handles a request of theirs.
 */
export class Likeness<C extends Client> {
  readonly #users: User<C>[] = [];
  readonly #begun = new Set<C | User<C>>();

  constructor(private readonly clients: readonly C[]) {}

  add(user: User<C>): void {
    this.#users.push(user);
  }

  /** It has had its first turn. */
  begins(one: C | User<C>): void {
    this.#begun.add(one);
  }

  mayBeServed(client: C): boolean {
    if (this.#begun.has(client)) return true;
    const kinds = this.#kindsOf(client);
    return this.#isNext(client, this.clients, (one) => this.#kindsOf(one) === kinds);
  }

  mayAct(user: User<C>): boolean {
    const { client, kind } = user;
    return this.#isNext(user, this.#users, (one) => one.client === client && one.kind === kind);
  }

  /** Names clients that are alike in the order in which the text speaks of them. */
  renamed(text: string): string {
    const names = new Map<string, string>();
    const left = [...this.clients];
    return text.replace(/client \d+/g, (name) => {
      const known = names.get(name);
      if (known !== undefined) return known;
      const kinds = this.#kindsOf(this.clients.find((one) => one.name === name)!);
      const place = left.findIndex((one) => this.#kindsOf(one) === kinds);
      const [next] = left.splice(place, 1);
      names.set(name, next!.name);
      return next!.name;
    });
  }

  #isNext<T extends C | User<C>>(
    one: T,
    all: readonly T[],
    isAlike: (other: T) => boolean,
  ): boolean {
    if (this.#begun.has(one)) return true;
    return all.find((other) => !this.#begun.has(other) && isAlike(other)) === one;
  }

  #kindsOf(client: C): string {
    const own = this.#users.filter((user) => user.client === client);
    return own
      .map(({ kind }) => kind)
      .sort()
      .join();
  }
}
