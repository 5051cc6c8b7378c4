/** What is explored, as the title of a test. */
export function titleOf({
  clients,
  requests,
  faults,
  kinds,
  ...of
}: {
  readonly scenario?: string;
  /** If it is on Redis. */
  readonly redis?: string;
  /** If it is on several of them. */
  readonly redLock?: string;
  readonly clients: number;
  readonly requests?: number;
  readonly faults: number;
  readonly kinds?: readonly string[] | undefined;
}): string {
  const counts = [
    count(clients, 'client'),
    ...(requests === undefined ? [] : [count(requests, 'request')]),
    count(faults, 'fault'),
  ];
  const world = of.scenario ?? (of.redLock ? `RedLock: ${of.redLock}` : `${of.redis} on Redis`);
  return `${world}, ${counts.join(', ')}${kinds ? ` (${kinds.join()})` : ''}`;
}

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`;
