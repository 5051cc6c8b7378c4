import type { RushResult } from '../rush/rush-result.js';
import type { SeatStore } from './seat-store.js';
import type { Show } from './show.js';

/** The store that several processes share: it asks the one in the main process, over HTTP. */
export class RemoteSeatStore implements SeatStore {
  constructor(private readonly url: string) {}

  async open(latency: number): Promise<void> {
    await this.send('PUT', { latency });
  }

  async load(): Promise<Show> {
    const response = await this.send('GET');
    return response.json() as Promise<Show>;
  }

  async save(left: number, seat: number): Promise<void> {
    await this.send('POST', { left, seat });
  }

  async record(rush: RushResult): Promise<void> {
    await this.send('PATCH', rush);
  }

  private async send(method: string, body?: object): Promise<Response> {
    const response = await fetch(this.url, {
      method,
      headers: { 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`The seat store answered ${response.status}.`);
    return response;
  }
}
