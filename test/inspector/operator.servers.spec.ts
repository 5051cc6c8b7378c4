import { hostname } from 'node:os';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';

import type { Browser } from 'puppeteer-core';
import type { LockClient, LockModuleOptions } from '../../lib/index.js';
import type { LockInspectorOptions } from '../../lib/inspector/index.js';
import { Apps, clientOf } from '../e2e/support/apps.js';
import { useRedis, useZooKeeper } from '../support/fixtures.js';
import { eventually } from '../support/time.js';
import { inspectingApp } from './support/inspection.js';
import { describeWithBrowser, InspectorPage, startChromium } from './support/inspector-page.js';

const allow = { canActivate: () => true };

describeWithBrowser('An operator at the page of the inspector', () => {
  const zookeeper = useZooKeeper();
  const redis = useRedis();
  const apps = new Apps();
  let browser: Browser;
  let page: InspectorPage;
  let locks: LockClient;

  beforeAll(async () => void (browser = await startChromium()), 150_000);
  afterAll(() => browser?.close());
  afterEach(async () => {
    await page.page.close();
    await apps.end();
  });

  async function open(
    options: LockInspectorOptions = {},
    clients: readonly LockModuleOptions[] = [{}],
  ): Promise<void> {
    const served = await inspectingApp(apps, clients, { guards: [allow], every: 250, ...options });
    locks = clientOf(served.app, clients[0]!.name);
    page = await InspectorPage.open(browser, served.url);
  }

  const hold = (key: string, method = 'Seats.book') => locks.mutex(key).acquire({ method });
  const texts = (selector: string) =>
    page.run(
      `[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => each.textContent)`,
    ) as Promise<string[]>;
  const keys = () => texts('.locks .key');

  it('finds 3 waiters of a long queue, and the others behind a button that stays open', async () => {
    await open();
    await hold('seat');
    for (let i = 0; i < 29; i++) void hold('seat', `Seats.wait${i}`).catch(() => {});
    await page.page.waitForFunction('document.body.innerText.includes("26 more")');
    expect(await texts('ol .method')).toEqual(['Seats.wait0', 'Seats.wait1', 'Seats.wait2']);

    await page.page.click('td.queue .fold');
    expect(await texts('ol .method')).toHaveLength(29);
    await hold('other');
    await page.shows('other', { holders: ['Seats.book'], queue: [] });
    expect(await texts('ol .method')).toHaveLength(29);
  });

  it('finds contended locks first, then those of the oldest hold, 50 at a time', async () => {
    await open({ limit: 1_000 });
    await hold('held-long');
    await page.shows('held-long', { holders: ['Seats.book'], queue: [] });
    await page.page.waitForFunction('document.body.innerText.includes("for 1 s")');
    for (let i = 0; i < 120; i++) await hold(`order:${i}`);
    await page.page.waitForFunction('document.body.innerText.includes("71 more")');
    void hold('order:100', 'Seats.cancel').catch(() => {});
    // Not any waiter: a look may come while the last mutex is being asked for.
    await page.page.waitForFunction(
      'document.querySelector("td.queue")?.innerText.includes("Seats.cancel")',
    );
    const [first, second, ...others] = await keys();
    expect([first, second]).toEqual(['order:100', 'held-long']);
    expect(others).toHaveLength(48);
    await page.page.click('.scroll > .folds .fold');
    expect(await keys()).toHaveLength(100);
  });

  it('finds the application, the environment, and the servers, but no password', async () => {
    const { host, port } = redis();
    const connect = `redis://:s3cret@${host}:${port}/2`;
    await open({ app: 'shop <b>', environment: 'production' }, [
      { name: 'carts', backend: 'redis', connect, prefix: 'shop:' },
      { name: 'jobs', backend: 'zookeeper', connect: zookeeper().connectString },
    ]);
    expect(await page.run('document.title')).toBe('production · shop <b> · Locks');
    expect(await texts('h1')).toEqual(['Locks of shop <b> production']);
    await page.page.waitForFunction('document.querySelectorAll(".place").length === 2');
    expect(await texts('.place')).toEqual([
      `redis · ${host}:${port}/2 · prefix shop:`,
      `zookeeper · ${zookeeper().connectString} · prefix /locks`,
    ]);
    expect(await page.run('document.documentElement.outerHTML')).not.toContain('s3cret');
  });

  it('is asked in a dialog that a long key does not fill, and keeps the lock when it is closed', async () => {
    await open({ environment: 'staging' });
    const key = 'k'.repeat(500);
    await hold(key);
    await page.shows(key, { holders: ['Seats.book'], queue: [] });
    await page.openDialog(key);
    const text = (await page.run('document.querySelector("dialog").innerText')) as string;
    for (const part of [key, 'Seats.book', hostname(), 'another client gets', 'staging'])
      expect(text).toContain(part);
    expect(await page.run('document.querySelector("dialog").offsetHeight')).toBeLessThan(500);
    expect(await page.run('document.activeElement.textContent')).toBe('Cancel');
    await page.page.keyboard.press('Escape');
    await page.page.waitForFunction('!document.querySelector("dialog").open');
    await page.shows(key, { holders: ['Seats.book'], queue: [] });
  });

  it('keeps the focus and the open menu while the locks change', async () => {
    await open();
    await hold('seat');
    await page.shows('seat', { holders: ['Seats.book'], queue: [] });
    await page.page.focus('.menu');
    await page.page.keyboard.press('Enter');
    await page.page.waitForSelector('.popup:popover-open');
    void hold('seat', 'Seats.cancel').catch(() => {});
    await hold('other');
    await page.shows('seat', { holders: ['Seats.book'], queue: ['Seats.cancel'] });
    expect(await page.run('document.activeElement.textContent')).toBe('Force release…');
    await page.page.keyboard.press('Escape');
    expect(await page.run('document.activeElement.className')).toBe('menu');
  });

  it('sees hidden characters, and finds line breaks of names where words end', async () => {
    await open();
    await hold('a\u2028\u202eb\u200b', 'WarehouseService.bookSeat');
    await page.page.waitForFunction('document.querySelectorAll(".escape").length === 3');
    expect(await keys()).toEqual(['aU+2028U+202EbU+200B']);
    const html = 'document.querySelector(".method").innerHTML';
    expect(await page.run(html)).toBe('Warehouse<wbr>Service<wbr>.book<wbr>Seat');
    expect(await page.run('document.querySelector(".time").title')).toMatch(/T[\d:.]+Z\)$/);
  });

  it('sees that the page is live, and when it last was', async () => {
    await open();
    const sign = async () => (await texts('#live'))[0]!;
    await page.page.waitForFunction('/^live · /.test(document.getElementById("live").textContent)');
    const before = await sign();
    await eventually('it goes on without a change', async () => (await sign()) !== before);
    await apps.close();
    await page.page.waitForFunction(
      '/^not live, last at /.test(document.getElementById("live").textContent)',
    );
  });

  it('is shown the locks again after updates were refused for a while', async () => {
    let isOpen = false;
    const guard = {
      canActivate: (context: { getArgs(): { url: string }[] }) =>
        isOpen || !context.getArgs()[0]!.url.endsWith('/events'),
    };
    await open({ guards: [guard] });
    await page.page.waitForFunction('document.body.innerText.includes("asked again")');
    isOpen = true;
    await page.page.waitForFunction('document.body.innerText.includes("No lock is held")');
    expect(await page.run('document.getElementById("notice").hidden')).toBe(true);
  });

  it('has no menus any more once a guard has refused a release', async () => {
    await open({ releaseGuards: [{ canActivate: () => false }] });
    await hold('seat');
    await page.shows('seat', { holders: ['Seats.book'], queue: [] });
    await page.release('seat');
    await page.page.waitForFunction('document.body.innerText.includes("Not released")');
    expect(await page.run('document.querySelector(".menu").checkVisibility()')).toBe(false);
  });
});
