/** How long that took, in ms. */
export async function took(wait: Promise<unknown>): Promise<number> {
  const since = performance.now();
  await wait;
  return performance.now() - since;
}
