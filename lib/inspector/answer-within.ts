/** Settles as `work` does; rejects when that takes longer than `ms`. */
export async function answerWithin<T>(ms: number, work: Promise<T> | undefined) {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
    timer.unref();
  });
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
