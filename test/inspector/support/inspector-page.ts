import { existsSync } from 'node:fs';
import { describe, expect } from '@jest/globals';
import { launch, type Browser, type Page } from 'puppeteer-core';
import { eventually } from '../../support/time.js';

const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--hide-scrollbars'];

/** Is there a Chromium to test with? In CI there has to be one. */
const hasChromium = existsSync(CHROMIUM) || process.env.CI !== undefined;

/** Starts it without a window. */
export function startChromium(): Promise<Browser> {
  // By a pipe: it ends with this process, however that ends.
  return launch({
    executablePath: CHROMIUM,
    args: ARGS,
    pipe: true,
    timeout: 120_000,
    protocolTimeout: 120_000,
  });
}

/** In the browser: the row of a lock. */
const ROW = `(key) => [...document.querySelectorAll('.locks tbody tr')]
  .find((row) => row.querySelector('th').firstChild.textContent === key)`;

/** In the browser: the holders and waiters, by methods. */
const METHODS = `(row) => {
  const methods = (list) => [...row.querySelectorAll(list + ' .method')].map((each) => each.textContent);
  return row && { holders: methods('ul'), queue: methods('ol') };
}`;

/** In the browser: the contrast of a text with the card that it stands on, as WCAG reckons it. */
const CONTRAST = `(selector) => {
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/\\d+/g).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const element = document.querySelector('section ' + selector);
  const colours = [getComputedStyle(element).color, getComputedStyle(element.closest('section')).backgroundColor];
  const [darker, lighter] = colours.map(luminance).sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}`;

/** What a lock is seen to be: methods of its holders and of its waiters, in order. */
interface SeenLock {
  readonly holders: readonly string[];
  readonly queue: readonly string[];
}

/** The page of the inspector in a browser. */
export class InspectorPage {
  /** What went wrong in it. */
  readonly errors: string[] = [];

  private constructor(readonly page: Page) {
    page.on('pageerror', (error) => this.errors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') this.errors.push(message.text());
    });
  }

  static async open(browser: Browser, url: string): Promise<InspectorPage> {
    const page = await browser.newPage();
    const inspector = new InspectorPage(page);
    await page.setViewport({ width: 1100, height: 720 });
    await page.goto(url);
    return inspector;
  }

  /** Waits until it shows that lock so; `undefined`: not at all. */
  async shows(key: string, lock: SeenLock | undefined): Promise<void> {
    await eventually(`"${key}" is shown as ${JSON.stringify(lock)}`, async () => {
      expect(await this.#see(key)).toEqual(lock);
      return true;
    });
  }

  text(): Promise<string> {
    return this.run('document.body.innerText') as Promise<string>;
  }

  /** What that code gives in it. */
  run(code: string): Promise<unknown> {
    return this.page.evaluate(code);
  }

  /** Of the first element like that with what it stands on: from 1 to 21. */
  contrast(selector: string): Promise<number> {
    return this.page.evaluate(`(${CONTRAST})(${JSON.stringify(selector)})`) as Promise<number>;
  }

  /** Releases the first holder of that lock by its menu and the dialog; resolves to what the dialog says. */
  async release(key: string): Promise<string> {
    await this.openDialog(key);
    const asked = await this.run('document.querySelector("dialog").innerText');
    await this.page.click('dialog .danger');
    return asked as string;
  }

  /** Opens the menu of the first holder of that lock, and chooses its entry. */
  async openDialog(key: string): Promise<void> {
    await this.run(`(${ROW})(${JSON.stringify(key)}).querySelector('.menu').click()`);
    await this.page.click('.popup .danger');
    await this.page.waitForSelector('dialog[open]');
  }

  async close(): Promise<void> {
    await this.page.close();
    expect(this.errors).toEqual([]);
  }

  #see(key: string): Promise<SeenLock | undefined> {
    const code = `(${METHODS})((${ROW})(${JSON.stringify(key)}))`;
    return this.page.evaluate(code) as Promise<SeenLock | undefined>;
  }
}

if (!hasChromium)
  console.warn('The page of the inspector is not tested: no Chromium. Name one in CHROMIUM_PATH.');
export const describeWithBrowser = hasChromium ? describe : describe.skip;
