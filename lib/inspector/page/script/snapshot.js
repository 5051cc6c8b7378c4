/** What tells a party from the others of its lock, as far as it is known. */
export const partyKey = ({ ids, host, pid, method, participant, mode }) =>
  ids.length > 0 ? ids[0] : JSON.stringify([host, pid, method, participant, mode]);

/** The process of a party, or what the servers know of it. */
export const whereOf = ({ host, pid, data, ids }) => {
  if (host !== undefined) return pid === undefined ? host : `${host} · ${pid}`;
  return data || ids[0] || 'unknown';
};

/** Names each item once: the second of the same name becomes `name#1`. */
export const named = (items, nameOf) => {
  const seen = new Map();
  return items.map((item) => {
    const name = nameOf(item);
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return [count === 0 ? name : `${name}#${count}`, item];
  });
};

const partiesOf = (client) =>
  client.locks.flatMap((lock) =>
    [lock.holders, lock.queue].flatMap((parties, i) =>
      named(parties, partyKey).map(([key, party]) => [`${i} ${lock.name} ${key}`, party]),
    ),
  );

/** Start times vary by some ms between snapshots: below a second the former one stands, or rows would change places. */
export const steady = (client, before) => {
  const former = new Map(before ? partiesOf(before) : []);
  for (const [key, party] of partiesOf(client)) {
    const since = former.get(key)?.since;
    if (Math.abs(since - party.since) < 1000) party.since = since;
  }
};

const collator = new Intl.Collator(undefined, { numeric: true });
const oldest = ({ holders }) =>
  Math.floor(Math.min(...holders.map(({ since }) => since ?? Infinity), Infinity) / 1000);

/** Locks that are waited for first, then the longest held one to the second, then by key as people count. */
export const byUrgency = (a, b) => {
  const contended = Number(b.queue.length > 0) - Number(a.queue.length > 0);
  if (contended !== 0) return contended;
  const [one, other] = [oldest(a), oldest(b)];
  return one === other ? collator.compare(a.key, b.key) : one - other;
};

export const matches = (lock, wanted) =>
  wanted === '' ||
  [lock, ...lock.holders, ...lock.queue]
    .flatMap(({ key, name, kind, host, method, participant, data }) => {
      return [key, name, kind, host, method, participant, data];
    })
    .join('\n')
    .toLowerCase()
    .includes(wanted);
