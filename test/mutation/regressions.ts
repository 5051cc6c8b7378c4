/** A defect that was mended, and how it can be brought back in the code of today. */
export interface Regression {
  /** What users saw of it. */
  readonly defect: string;
  readonly file: string;
  /** Stands in the file once; `to` takes its place. */
  readonly from: string;
  readonly to: string;
  /** Arguments of `npm test`; none where the check of the package is to fail. */
  readonly tests: readonly string[];
}

/**
 * The text of its file with that defect.
 *
 * @throws when it cannot be planted any more, as the code has changed
 */
export function planted({ defect, file, from, to }: Regression, text: string): string {
  const parts = text.split(from);
  if (parts.length !== 2)
    throw new Error(`"${defect}" is not to be planted in ${file}: ${parts.length - 1} places`);
  return parts.join(to);
}

const reports = (defect: string, from: string, to: string): Regression => ({
  defect: `a made-up report: ${defect}`,
  file: 'lib/inspector/process-report.ts',
  from,
  to,
  tests: ['test/unit/inspector'],
});

/** Defects of the Nest layer: async context, shutdown, `@RunOnce`, the inspector, secrets, the package. */
export const REGRESSIONS: readonly Regression[] = [
  // Reports of the inspector that are too long, or that nobody asked for
  {
    defect: 'a report has no bound in bytes, and ZooKeeper hangs up on it',
    file: 'lib/inspector/process-report.ts',
    from: 'if (bytes > room.bytes) return [];',
    to: '',
    tests: ['test/unit/inspector'],
  },
  {
    defect: 'reports are written while nobody looks',
    file: 'lib/zookeeper/inspection/zookeeper-reports.ts',
    from: 'if (isNew && !this.#isClosed)',
    to: 'if (!this.#isClosed)',
    tests: ['test/inspector/exchange'],
  },
  {
    defect: 'a report on which the server has hung up is sent again',
    file: 'lib/zookeeper/inspection/zookeeper-reports.ts',
    from: 'this.#maxBytes = Math.min(this.#maxBytes, SHORT_REPORT);',
    to: '',
    tests: ['test/inspector/exchange'],
  },
  // The async context of a lease
  {
    defect: 'a method that starts its own next run keeps its past leases in its chain',
    file: 'lib/core/internal/lease-scope.ts',
    from: 'storage.run({ scoped, outer: withoutEnded(storage.getStore()) }, fn)',
    to: 'storage.run({ scoped, outer: storage.getStore() }, fn)',
    tests: ['test/e2e/async-context'],
  },
  {
    defect: 'a method that starts its own next run keeps its past leases by their promises',
    file: 'lib/core/internal/lease-handle.ts',
    from: 'if (this.#scoped) this.#scoped.lease = new EndedLease(this.hold.context, this.hold.lost);',
    to: '',
    tests: ['test/e2e/async-context'],
  },
  {
    defect: 'consumers of a locked Observable run in its lease',
    file: 'lib/plans/locked-stream.ts',
    from: 'next: (value) => outside(() => subscriber.next(value)),',
    to: 'next: (value) => subscriber.next(value),',
    tests: ['test/e2e/async-context'],
  },
  {
    defect: '`onLost` runs in the lease of the method',
    file: 'lib/calls/run-under-lease.ts',
    from: 'inContext(() => call(loss))',
    to: 'call(loss)',
    tests: ['test/e2e/async-context'],
  },
  {
    defect: 'listeners of events run in the lease of whoever causes them',
    file: 'lib/core/internal/lock-event-emitter.ts',
    from: 'LeaseScope.runOutside(',
    to: '((call: () => void) => call())(',
    tests: ['test/e2e/async-context'],
  },
  {
    defect: 'take(1) does not stop a locked Observable that emits while it is subscribed to',
    file: 'lib/plans/locked-stream.ts',
    from: 'subscriber.add(() => inScope(() => left.next()));',
    to: 'queueMicrotask(() => subscriber.add(() => inScope(() => left.next())));',
    tests: ['test/e2e/async-context'],
  },
  // @RunOnce
  {
    defect: 'a replica that is granted late runs the job again',
    file: 'lib/calls/run-once.ts',
    from: 'late <= atLeast) return;',
    to: 'late <= Math.max(atLeast, SERVER_PATIENCE)) return;',
    tests: ['test/e2e/run-once-late'],
  },
  {
    defect: 'an occurrence that another replica began after the first look runs again',
    file: 'lib/calls/run-once.ts',
    from: 'if (!isMine) await lease.release();\n      return isMine;',
    to: 'return true;',
    tests: ['test/e2e/run-once.spec'],
  },
  // Shutdown
  {
    defect: 'locks are refused to requests that Nest drains',
    file: 'lib/clients/lock-clients.ts',
    from: 'this.#shutdown.announce();',
    to: 'void this.#shutdown.drain();',
    tests: ['test/e2e/rolling-restarts'],
  },
  {
    defect: 'the database under a job is closed before a shutdown waits for the job',
    file: 'lib/lock.lifecycle.ts',
    from: 'await this.clients.finish();',
    to: '',
    tests: ['test/e2e/draining.spec'],
  },
  {
    defect: 'a busy worker uses up the time for which a shutdown waits for jobs',
    file: 'lib/clients/client-shutdown.ts',
    from: 'finishWork(works)',
    to: 'client.drain()',
    tests: ['test/e2e/draining.spec'],
  },
  {
    defect: 'a hook that waits without a bound keeps the app from closing',
    file: 'lib/lock.lifecycle.ts',
    from: 'this.clients.announce();',
    to: '',
    tests: ['test/e2e/lifecycle'],
  },
  {
    defect: 'an app that was closed while it booted leads',
    file: 'lib/elections/leader-elections.ts',
    from: "if (this.#phase === 'shutdown') return;",
    to: '',
    tests: ['test/e2e/leader-elections'],
  },
  {
    defect: 'a boot that fails elsewhere leaves connections that keep the process alive',
    file: 'lib/clients/liveness-watch.ts',
    from: 'for (const client of this.#clients) client[LIVENESS].unref();',
    to: '',
    tests: ['test/e2e/failed-boot'],
  },
  // What the inspector shows
  {
    defect: 'a multi-lock is shown as its first key',
    file: 'lib/inspector/merge-locks.ts',
    from: 'const byId = this.#byName.get(name);\n    return',
    to: 'const byId = [...this.#byName.values()].find((each) => each.has(ids[0]!));\n    return',
    tests: ['test/unit/inspector'],
  },
  reports(
    'a method that is no text',
    'method: textOf(method).slice(0, SHOWN)',
    'method: method as string',
  ),
  reports(
    'a recipe that is a property of every object',
    '!Object.hasOwn(KINDS, recipe)',
    '!(recipe in KINDS)',
  ),
  reports('a time that no date has', 'since: timeOf(since),', 'since: since as number,'),
  reports(
    'a count that is none',
    'return [countOf(value[0]), countOf(value[1])];',
    'return value as [number, number];',
  ),
  reports('a text of any length', 'if (text.length > LONGEST_REPORT) return undefined;', ''),
  reports(
    'any number of acquires',
    '!Array.isArray(activity) || activity.length > MOST',
    '!Array.isArray(activity)',
  ),
  {
    defect: 'the answers of ended processes are read at each look',
    file: 'lib/redis/inspection/redis-reports.ts',
    from: "const range = [asked, '+inf', 'limit'",
    to: "const range = ['-inf', '+inf', 'limit'",
    tests: ['test/inspector/exchange'],
  },
  {
    defect: 'events are queued for a watcher that does not read',
    file: 'lib/inspector/event-stream.ts',
    from: 'if (this.#isBlocked) this.#latest = snapshot;\n    else ',
    to: '',
    tests: ['test/unit/inspector'],
  },
  {
    defect: 'any number of pages may watch',
    file: 'lib/inspector/inspector.controller.ts',
    from: 'this.#watchers.size >= watchers',
    to: 'this.#watchers.size === Infinity',
    tests: ['test/e2e/inspector-requests'],
  },
  {
    defect: 'an open page of the inspector keeps the app from closing',
    file: 'lib/inspector/inspector.controller.ts',
    from: 'if (this.inspector.isClosing) endConnection(context.switchToHttp().getResponse());',
    to: '',
    tests: ['test/e2e/inspector-requests'],
  },
  {
    defect: 'a page of another site may ask',
    file: 'lib/inspector/request-origin.ts',
    from: "if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;",
    to: '',
    tests: ['test/e2e/inspector-requests'],
  },
  {
    defect: 'a page whose name was rebound to this server releases locks',
    file: 'lib/inspector/request-origin.ts',
    from: ' && (cannotBeRebound || this.#hosts !== undefined)',
    to: '',
    tests: ['test/e2e/inspector-requests'],
  },
  {
    defect: 'the log does not name the user of a release',
    file: 'lib/inspector/inspector.controller.ts',
    from: 'this.inspector.release(client, name, ids, user)',
    to: 'this.inspector.release(client, name, ids)',
    tests: ['test/e2e/inspector-requests'],
  },
  {
    defect: 'interceptors of the app that wrap answers break the page',
    file: 'lib/inspector/inspector.controller.ts',
    from: `async snapshot(@Headers() headers: RequestHeaders, @Res() response: PageResponse) {
      origin.expectReader(headers);
      sendJson(response, await this.inspector.snapshot());`,
    to: `async snapshot(@Headers() headers: RequestHeaders) {
      origin.expectReader(headers);
      return await this.inspector.snapshot();`,
    tests: ['test/e2e/inspector-requests'],
  },
  // Two copies
  {
    defect: 'two copies of the package in one app have a client "default" each',
    file: 'lib/clients/lock-clients.ts',
    from: 'if (this.#ours.length > 1) throw LockClientDuplicateError.ofCopies(name);',
    to: '',
    tests: ['test/e2e/module'],
  },
  {
    defect: 'a second copy is not told at boot',
    file: 'lib/lock.module.ts',
    from: 'warnOfCopies(); //',
    to: '//',
    tests: ['test/unit/nest/loaded-copies'],
  },
  {
    defect: '`import` and `require` load a copy each',
    file: 'package.json',
    from: `".": {
      "module-sync": {
        "types": "./dist/index.d.ts",
        "default": "./dist/index.js"
      },`,
    to: '".": {',
    tests: [],
  },
  // Shapes of methods
  {
    defect: '@LockStream takes an async generator below a plain decorator for an Observable',
    file: 'lib/plans/method-kinds.ts',
    from: 'unknown: either }',
    to: 'unknown: observable }',
    tests: ['test/e2e/method-shapes'],
  },
  {
    defect: 'a promise of a stream runs without the lock',
    file: 'lib/plans/method-kinds.ts',
    from: 'if (!isLazy(result)) return result;',
    to: 'if (!isObservableLike(result)) return result;',
    tests: ['test/e2e/method-shapes'],
  },
  // Secrets
  {
    defect: 'an option error shows an object with a password',
    file: 'lib/core/errors/shown-value.ts',
    from: "if (isObject || typeof value === 'function') return new NotShown(kindOf(value));",
    to: '',
    tests: ['test/e2e/secrets.spec'],
  },
  {
    defect: 'an option error shows the password of a URL',
    file: 'lib/core/errors/shown-value.ts',
    from: "return MAY_BE_SECRET.test(value) ? new NotShown('a text that is not shown') : value;",
    to: 'return value;',
    tests: ['test/e2e/secrets.spec'],
  },
  {
    defect: 'an option error shows the value of an unknown option',
    file: 'lib/standalone/create-backend-client.ts',
    from: "new NotShown(`unknown to the backend '${backend}'`),",
    to: '(options as Record<string, unknown>)[unknown],',
    tests: ['test/e2e/secrets.spec'],
  },
  // Keys
  {
    defect: 'two calls with other arguments have one key',
    file: 'lib/plans/key-template.ts',
    from: 'end === undefined ? String(value) : escaped(String(value), end)',
    to: 'String(value)',
    tests: ['test/unit/nest/key-template'],
  },
  {
    defect: 'a multi-lock of one key by two clients of one server waits for itself',
    file: 'lib/core/internal/multi-lease.ts',
    from: 'a === b || haveServerInCommon(a, b)',
    to: 'a === b',
    tests: ['test/unit/core/multi-lock'],
  },
  // The package
  {
    defect: 'a package that is published from a clean clone is empty',
    file: 'package.json',
    from: '"prepack": "npm run --silent build",',
    to: '',
    tests: [],
  },
  {
    defect: 'minifiers change the names of errors',
    file: 'lib/core/errors/lock-error.ts',
    from: 'this.name = isOurs ? NAMES[code] : new.target.name;',
    to: 'this.name = new.target.name;',
    tests: ['test/unit/core/errors'],
  },
  {
    defect: 'an option that may be undefined is refused under exactOptionalPropertyTypes',
    file: 'lib/core/lock.ts',
    from: 'readonly method?: string | undefined;',
    to: 'readonly method?: string;',
    tests: [],
  },
];
