import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { currentLease, WithMultiLock, WithMutex } from '../../lib/index.js';
import { LockTesting, LockTestingModule } from '../../lib/testing/index.js';
import { useApp } from './support/apps.js';

@Injectable()
class Tenants {
  readonly tenant = 'acme';
  readonly losses: string[] = [];

  @WithMutex(function (this: Tenants, id: string) {
    return `${this.tenant}:order:${id}`;
  })
  async byKey(_id: string): Promise<string> {
    return currentLease()!.key;
  }

  @WithMultiLock(function (this: Tenants, ...ids: string[]) {
    return ids.map((id) => `${this.tenant}:${id}`);
  })
  async byKeys(..._ids: string[]): Promise<string> {
    return currentLease()!.key;
  }

  @WithMutex('busy', {
    onBusy(this: Tenants) {
      return this.tenant;
    },
  })
  async busy(): Promise<string> {
    return 'done';
  }

  @WithMutex('lost', {
    onLost(this: Tenants, { key }) {
      this.losses.push(`${this.tenant}: ${key}`);
    },
  })
  async lost(lose: (key: string) => Promise<void>): Promise<void> {
    await lose('lost');
  }
}

describe('In the functions of a decorator, `this` is the instance', () => {
  const app = useApp(() => ({ providers: [Tenants], imports: [LockTestingModule] }));
  const tenants = () => app.get(Tenants);

  it('in those of a key, and of several', async () => {
    expect(await tenants().byKey('7')).toBe('acme:order:7');
    expect(await tenants().byKeys('a', 'b')).toBe('acme:a + acme:b');
  });

  it('in onBusy', async () => {
    await using _ = await app.client.mutex('busy').acquire();
    expect(await tenants().busy()).toBe('acme');
  });

  it('in onLost', async () => {
    await tenants().lost((key) => app.get(LockTesting).loseLease(key));
    expect(tenants().losses).toEqual(['acme: lost']);
  });
});
