import { defer, Observable, type ObservableInput } from 'rxjs';
import type { Around } from './around.js';

/** Subscribes to what `proceed` gives under a lock, and holds that until the stream ends or nobody listens. */
export function streamUnderLock(
  around: Around,
  proceed: () => ObservableInput<unknown>,
): Observable<unknown> {
  return new Observable((subscriber) => {
    const unsubscribed = new AbortController();
    subscriber.add(() => unsubscribed.abort());
    const flow = () =>
      new Promise<undefined>((resolve, reject) => {
        if (subscriber.closed) return resolve(undefined);
        const source = defer(proceed).subscribe({
          next: (value) => subscriber.next(value),
          error: reject,
          complete: () => resolve(undefined),
        });
        subscriber.add(() => {
          source.unsubscribe();
          resolve(undefined);
        });
      });
    // The end is told after the release, as a method's promise settles after it.
    around(flow, unsubscribed.signal).then(
      (instead) => {
        if (instead !== undefined) subscriber.next(instead);
        subscriber.complete();
      },
      (error) => subscriber.error(error),
    );
  });
}
