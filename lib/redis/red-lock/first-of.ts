/** The first so many results; fewer when the others have failed. Never rejects. */
export function firstOf<T>(count: number, promises: readonly Promise<T>[]): Promise<T[]> {
  return new Promise((resolve) => {
    const results: T[] = [];
    let pending = promises.length;
    const settled = () => {
      pending -= 1;
      if (pending === 0 || results.length >= count) resolve(results);
    };
    if (pending === 0) resolve(results);
    for (const promise of promises)
      promise.then((result) => {
        if (results.length < count) results.push(result);
        settled();
      }, settled);
  });
}
