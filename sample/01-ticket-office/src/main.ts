import { once } from 'node:events';
import { parseCommandLine, type CommandLine } from './command-line.js';
import { comparisonTable } from './comparison-table.js';
import { openBoxOffice } from './processes/open-box-office.js';
import { requestRush } from './request-rush.js';

const stopped = new AbortController();

try {
  await run(parseCommandLine(process.argv.slice(2), process.env));
} catch (error) {
  if (!stopped.signal.aborted) {
    const [line] = (error as Error).message.split('\n');
    console.error(`ticket-office: ${line}`);
    process.exitCode = 1;
  }
}

async function run(commandLine: CommandLine): Promise<void> {
  const { locks, processes, once: isOnce } = commandLine;
  const office = await openBoxOffice(commandLine);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopped.abort());
  try {
    console.log(
      `300 customers want 100 seats. Locks: ${locks.backend}. Processes: ${processes}.\n`,
    );
    const withoutLock = await requestRush(office.url, false, stopped.signal);
    const withLock = await requestRush(office.url, true, stopped.signal);
    console.log(comparisonTable([withoutLock, withLock]));
    if (isOnce) return;
    console.log(`\nWatch a rush: ${office.url} (Ctrl-C ends it)`);
    if (!stopped.signal.aborted) await once(stopped.signal, 'abort');
  } finally {
    await office.close();
  }
}
