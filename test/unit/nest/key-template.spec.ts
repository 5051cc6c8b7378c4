import { describe, expect, it } from '@jest/globals';
import { LockKeyError } from '../../../lib/core/errors/index.js';
import { KeyTemplate } from '../../../lib/plans/key-template.js';
import { seededRandom } from '../../support/seeded-random.js';

const keyOf = (template: string, ...args: unknown[]) =>
  new KeyTemplate(template).fillIn(args, 'Orders.pay');

describe('The key of a template', () => {
  it.each([
    ['order:{0}', ['a:b%'], 'order:a:b%'],
    ['seat:{0}:{1}', ['hall', 7], 'seat:hall:7'],
    ['seat:{0}:{1}', ['a:b', 'c'], 'seat:a%3Ab:c'],
    ['seat:{0}:{1}', ['a', 'b:c'], 'seat:a:b:c'],
    ['seat:{0}:{1}', ['100%', '100%'], 'seat:100%25:100%'],
    ['{0} and {1}', ['you and me', 'x'], 'you%20and%20me and x'],
    ['{0}🔒{1}', ['a🔒', 'b'], 'a%F0%9F%94%92🔒b'],
    ['{{0}}:{1.id}', ['a}', { id: 1n }], '{a%7D}:1'],
    ['{0}7:{1}', ['77', true], '777:true'],
    ['{0}-{0}', ['a-'], 'a%2D-a-'],
  ])(
    '%s of %p is made of its values: only what is ambiguous in them is escaped',
    (text, args, key) => {
      expect(keyOf(text, ...args)).toBe(key);
    },
  );

  it('differs whenever the values do: a hundred thousand of them, of the characters that matter', () => {
    const random = seededRandom(17);
    const shared: string[] = [];
    const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)]!;
    const some = (characters: readonly string[], most: number) =>
      Array.from({ length: Math.floor(random() * most) }, () => pick(characters)).join('');
    for (let round = 0; round < 500; round++) {
      const separators = Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
        some([':', '%', '2', '5', 'A', 'a', '{', '}', '/', 'é'], 4),
      );
      const text = separators.reduce(
        (all, separator, i) => `${all}${separator}{${i + 1}}`,
        'x:{0}',
      );
      let template: KeyTemplate;
      try {
        template = new KeyTemplate(text);
      } catch {
        continue;
      }
      const characters = [...new Set(['%', '2', '5', '3', 'A', ...separators.join('')])];
      const valuesOf = new Map<string, string>(); // by key
      for (let i = 0; i < 200; i++) {
        const values = ['', ...separators].map(() => pick(characters) + some(characters, 4));
        const key = template.fillIn(values, 'Orders.pay');
        const told = JSON.stringify(values);
        const others = valuesOf.get(key) ?? told;
        if (others !== told) shared.push(`${text} of ${told} and ${others}: ${key}`);
        valuesOf.set(key, told);
      }
    }
    expect(shared).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['NaN', NaN],
    ['Infinity', Infinity],
    ['-Infinity', -Infinity],
    ['""', ''],
    ['"null"', 'null'],
    ['an object', { password: 'hunter2' }],
    ['an object', ['hunter2']],
    ['a function', () => 'hunter2'],
    ['a symbol', Symbol('hunter2')],
  ])('is refused for a value that is %s, and says so', (shown, value) => {
    expect(() => keyOf('order:{0}', value)).toThrow(
      new LockKeyError('order:{0}', `{0} is ${shown} in a call of Orders.pay`),
    );
  });

  it.each(['{0}{1}', 'a:{0}{0}', '{0}:{1}{2}', '{0}0{1}', '{0}%{1}', '{0}AF%20{1}'])(
    'is refused where nothing tells its values apart: %s',
    (text) => {
      expect(() => new KeyTemplate(text)).toThrow(LockKeyError);
      expect(() => new KeyTemplate(text)).toThrow(/put a text such as ":" there/);
    },
  );
});
