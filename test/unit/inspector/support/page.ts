import { inspectorScript } from '../../../../lib/inspector/page/parts.js';

/** As much of an element as the script of the page needs. Most have nothing of their own, so it is quickly made. */
class FakeElement {
  children: (FakeElement | string)[] = [];
  className = '';
  value = '';
  text = '';
  hidden = false;
  parent?: FakeElement;
  #dataset?: Record<string, unknown>;
  #listeners?: Map<string, (event: unknown) => void>;

  get dataset(): Record<string, unknown> {
    return (this.#dataset ??= {});
  }

  get textContent(): string {
    if (this.hidden) return '';
    return this.text + this.children.map((child) => textOf(child)).join('');
  }

  set textContent(text: string) {
    this.text = String(text);
    this.children = [];
  }

  append(...children: (FakeElement | string)[]): void {
    // As in a browser, what is no element becomes text.
    for (const child of children) {
      this.children.push(isElement(child) ? child : `${child}`);
      if (isElement(child)) child.parent = this;
    }
  }

  replaceChildren(...children: (FakeElement | string)[]): void {
    this.children = [];
    this.append(...children);
  }

  addEventListener(event: string, listener: (event: unknown) => void): void {
    this.#listeners ??= new Map();
    this.#listeners.set(event, listener);
  }

  dispatch(event: string, data: unknown): void {
    this.#listeners?.get(event)!({ data });
  }

  setAttribute(): void {}

  remove(): void {
    this.parent?.take(this);
  }

  insertBefore(child: FakeElement, next: FakeElement | null): void {
    child.remove();
    child.parent = this;
    const at = next === null ? this.children.length : this.children.indexOf(next);
    this.children.splice(at, 0, child);
  }

  take(child: FakeElement): void {
    this.children = this.children.filter((each) => each !== child);
  }

  get firstChild(): FakeElement | string | null {
    return this.children[0] ?? null;
  }

  get nextSibling(): FakeElement | string | null {
    const siblings = this.parent!.children;
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }

  /** @param selector `.class`, or anything else for none */
  querySelectorAll(selector: string, found: FakeElement[] = []): FakeElement[] {
    for (const child of this.children) {
      if (typeof child === 'string') continue;
      if (selector.slice(1) === child.className) found.push(child);
      child.querySelectorAll(selector, found);
    }
    return found;
  }
}

const isElement = (value: unknown) => value instanceof FakeElement;
const textOf = (child: FakeElement | string) =>
  typeof child === 'string' ? child : child.textContent;

/** The script of the page without a browser. */
export class FakePage {
  readonly #byId = new Map(
    ['summary', 'live', 'notice', 'clients', 'filter'].map((id) => [id, new FakeElement()]),
  );
  readonly #events = new FakeElement();

  constructor() {
    const byId = this.#byId;
    const events = this.#events;
    const document = {
      documentElement: { dataset: { mayRelease: 'true' } },
      getElementById: (id: string) => byId.get(id),
      createElement: () => new FakeElement(),
      querySelectorAll: (selector: string) => byId.get('clients')!.querySelectorAll(selector),
    };
    // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call
    new Function('document', 'location', 'EventSource', 'setInterval', 'window', inspectorScript)(
      document,
      { pathname: '/locks' },
      function () {
        return events;
      },
      () => {},
      new FakeElement(),
    );
  }

  /** Receives a snapshot. @throws what the script throws */
  receive(data: string): void {
    this.#events.dispatch('message', data);
  }

  get text(): string {
    return [...this.#byId.values()].map(({ textContent }) => textContent).join('\n');
  }
}
