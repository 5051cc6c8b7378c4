/**
 * Has each of `contestants` do `work` for so many rounds, in turns (A B A B), so that whatever else the machine does meets
 * them alike. Rounds of warm-up go before and are not counted. Resolves with what `work` returned for each, round by round.
 */
export async function alternately<C, T>(
  contestants: Readonly<Record<string, C>>,
  work: (contestant: C, name: string) => Promise<T>,
  { rounds, warmUp }: { rounds: number; warmUp: number },
): Promise<Record<string, T[]>> {
  const results: Record<string, T[]> = {};
  for (let round = -warmUp; round < rounds; round++)
    for (const [name, contestant] of Object.entries(contestants)) {
      const result = await work(contestant, name);
      if (round >= 0) (results[name] ??= []).push(result);
    }
  return results;
}
