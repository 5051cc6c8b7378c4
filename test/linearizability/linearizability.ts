/** A call of one client, and what it got. */
export interface Call<Action, Answer> {
  readonly client: string;
  readonly action: Action;
  readonly begin: number;
  /** None: it may have been carried out at any time after its beginning, may be later, or never. */
  readonly answered?: { readonly at: number; readonly answer: Answer };
}

/** What an object does when its calls come one after the other. */
export interface Model<State extends bigint | number | string, Action, Answer> {
  readonly initial: State;
  /** The state after the action; `undefined`: that is not the answer in this state. Without an answer, any will do. */
  apply(state: State, action: Action, answer: Answer | undefined): State | undefined;
}

/** States of the search that are looked at before it gives up. */
const MOST_STATES = 1_000_000;

/**
 * Looks for an order of the calls in which each gives its answer, and none is before one that had ended when it began. An
 * algorithm of Wing and Gong (Testing and Verifying Concurrent Objects, 1993), with the cache of Lowe.
 *
 * @returns what contradicts the longest order found; `undefined` if there is an order for all
 * @throws if that cannot be decided in `MOST_STATES` states
 */
export function contradictionIn<State extends bigint | number | string, Action, Answer>(
  history: readonly Call<Action, Answer>[],
  model: Model<State, Action, Answer>,
): string | undefined {
  const byBegin = [...history].sort((a, b) => a.begin - b.begin);
  const answered = byBegin.filter((call) => call.answered !== undefined);
  const unanswered = byBegin.filter((call) => call.answered === undefined);
  const isDone = new Set<Call<Action, Answer>>();
  const visited = new Set<string>();
  let longest = { done: -1, contradiction: '' };

  /**
   * The calls of which one has to be the next: those that began before any other of them was answered. First those that were
   * answered first, as most were carried out in this order.
   */
  function candidates(first: number): Call<Action, Answer>[] {
    const found: Call<Action, Answer>[] = [];
    let firstEnd = Infinity;
    for (let i = first; i < answered.length && answered[i]!.begin < firstEnd; i++) {
      const call = answered[i]!;
      if (isDone.has(call)) continue;
      found.push(call);
      firstEnd = Math.min(firstEnd, call.answered!.at);
    }
    const lost = unanswered.filter((call) => call.begin < firstEnd && !isDone.has(call));
    return [
      ...found
        .filter(({ begin }) => begin < firstEnd)
        .sort((a, b) => a.answered!.at - b.answered!.at),
      ...lost,
    ];
  }

  function place(state: State, first: number): string {
    const lost = unanswered.flatMap((call, i) => (isDone.has(call) ? [i] : []));
    const later: number[] = [];
    for (let i = first; later.length < isDone.size - first - lost.length; i++)
      if (isDone.has(answered[i]!)) later.push(i);
    return [state, first, later.join(), lost.join()].join(' ');
  }

  function hasOrder(state: State, from: number): boolean {
    let first = from;
    while (first < answered.length && isDone.has(answered[first]!)) first++;
    if (first === answered.length) return true;
    const here = place(state, first);
    if (visited.has(here)) return false;
    if (visited.add(here).size > MOST_STATES) throw new Error('The search takes too long.');
    const next = candidates(first);
    if (isDone.size > longest.done)
      longest = {
        done: isDone.size,
        contradiction: `at ${state}, after ${isDone.size} calls: ${next.map(described).join('; ')}`,
      };
    return next.some((call) => {
      const after = model.apply(state, call.action, call.answered?.answer);
      if (after === undefined) return false;
      if (!call.answered && after === state) return false; // as if it were never carried out: later it can still be
      isDone.add(call);
      if (hasOrder(after, first)) return true;
      isDone.delete(call);
      return false;
    });
  }
  return hasOrder(model.initial, 0) ? undefined : longest.contradiction;
}

function described({ client, action, begin, answered }: Call<unknown, unknown>): string {
  const json = (value: unknown) =>
    JSON.stringify(value, (_, it: unknown) => (typeof it === 'bigint' ? `${it}` : it));
  const end = answered ? `→ ${json(answered.answer)} at ${answered.at.toFixed(1)}` : 'unanswered';
  return `${client} at ${begin.toFixed(1)}: ${json(action)} ${end}`;
}
