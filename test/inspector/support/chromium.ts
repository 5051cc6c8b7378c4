import { existsSync } from 'node:fs';
import { launch, type Browser } from 'puppeteer-core';

const PATH = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--hide-scrollbars'];

/** Is there a Chromium to test with? In CI there has to be one. */
export const hasChromium = existsSync(PATH) || process.env.CI !== undefined;

/** Starts it without a window. */
export function startChromium(): Promise<Browser> {
  // By a pipe: it ends with this process, however that ends.
  return launch({
    executablePath: PATH,
    args: ARGS,
    pipe: true,
    timeout: 120_000,
    protocolTimeout: 120_000,
  });
}
