import { afterEach, describe, expect, it } from '@jest/globals';
import { LockModule, LockOptionsError, type LockModuleOptions } from '../../lib/index.js';
import { Apps } from './support/apps.js';

const apps = new Apps();
afterEach(() => apps.close());

const bootError = (module: ReturnType<typeof LockModule.forRoot>) =>
  apps.boot({ imports: [module] }).then(
    () => undefined,
    (error: unknown) => error,
  );
const backends = "Give 'zookeeper', 'redis' or 'embedded'.";

describe('LockModule refuses to boot', () => {
  it.each([
    [{ backend: 'postgres' }, `Option \`backend\` is "postgres". ${backends}`],
    [{ client: {} }, `Option \`backend\` is undefined. ${backends}`],
    [{ backend: 'redis' }, 'Option `connect` is undefined.'],
    [{ backend: '' }, `Option \`backend\` is "". ${backends}`],
    [{ backend: undefined }, `Option \`backend\` is undefined. ${backends}`],
    [{ connect: 'zk1:2181' }, `Option \`backend\` is undefined. ${backends}`],
    [{ name: '' }, 'Option `name` is "". Give a name that is not empty, or none.'],
    [{ name: 7 }, 'Option `name` is 7. Give a name that is not empty, or none.'],
    [{ shutdownTimeout: 0 }, 'Option `shutdownTimeout` is 0. Give milliseconds above 0.'],
    [{ shutdownTimeout: NaN }, 'Option `shutdownTimeout` is NaN. Give milliseconds above 0.'],
    [{ shutdownTimeout: '5s' }, 'Option `shutdownTimeout` is "5s". Give milliseconds above 0.'],
    [{ wait: -1 }, 'Option `wait` is -1.'],
    [{ wait: Infinity }, 'Option `wait` is Infinity.'],
    [{ basePath: 'locks/' }, 'Option `basePath` is "locks/".'],
    [{ backend: 'zookeeper' }, 'Option `connect` is undefined.'],
    [{ backend: 'zookeeper', connect: 'zk1:port' }, 'Option `connect` is "zk1:port".'],
    [{ backend: 'zookeeper', connect: 'zk1', sessionTimeout: 0 }, 'Option `sessionTimeout` is 0.'],
    [
      { conect: 'zk1:2181' },
      'Option `conect` is "zk1:2181". Give an option that the backend \'embedded\' has: `name`, `backend`,',
    ],
    [
      { sessionTimeout: 5_000 },
      "Option `sessionTimeout` is 5000. Give an option that the backend 'embedded' has",
    ],
    [
      { backend: 'redis', connect: 'redis://127.0.0.1', sesionTimeout: 1 },
      "Option `sesionTimeout` is 1. Give an option that the backend 'redis' has",
    ],
    [
      { backend: 'zookeeper', connect: 'zk1', prefix: 'a' },
      'Option `prefix` is "a". Give an option that the backend \'zookeeper\' has',
    ],
    [{ backend: 'constructor' }, 'Option `backend` is "constructor".'],
  ])('with the options %j', async (options, message) => {
    const error = await bootError(LockModule.forRoot(options as LockModuleOptions));
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error).toMatchObject({ code: 'LOCK_OPTIONS' });
    expect((error as Error).message).toContain(message);
  });

  it.each([
    [undefined, 'Option `options` is undefined. Give an object; `{}` means the embedded backend.'],
    [null, 'Option `options` is null. Give an object; `{}` means the embedded backend.'],
    [{ name: 'b' }, 'Option `name` is "b". Give it to forRootAsync, beside the factory.'],
    [{ backend: undefined }, `Option \`backend\` is undefined. ${backends}`],
  ])('with a factory that gives %j', async (options, message) => {
    const useFactory = () => Promise.resolve(options as LockModuleOptions);
    const error = await bootError(LockModule.forRootAsync({ name: 'a', useFactory }));
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error).toMatchObject({ code: 'LOCK_OPTIONS', client: 'a', message });
  });

  it('with the error of the factory itself', async () => {
    const error = new Error('no configuration');
    const useFactory = () => Promise.reject<LockModuleOptions>(error);
    expect(await bootError(LockModule.forRootAsync({ useFactory }))).toBe(error);
  });
});

describe('LockModule.forRootAsync', () => {
  it('refuses options that do not say where the options come from', () => {
    const forRootAsync = () => LockModule.forRootAsync({});
    expect(forRootAsync).toThrow(LockOptionsError);
    expect(forRootAsync).toThrow(
      'Option `useFactory` is undefined. Give it, `useClass` or `useExisting`.',
    );
  });
});
