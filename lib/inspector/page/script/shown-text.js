import { element } from './element.js';

// Keys, hosts and methods are data of others: what cannot be seen, or turns the text around it, is shown as an escape.
const HIDDEN = /[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|[^\S ]/u;
const PARTS = new RegExp(`(${HIDDEN.source})`, 'u');
const NAMED = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
/** Before a separator, and between a small letter and a capital. */
const BREAKS = /(?=[.:/_-])|(?<=[a-z\d])(?=[A-Z])/;

const escaped = (character) =>
  NAMED[character] ?? `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** For a title or a label, which has no elements in it. */
export const plainText = (text) =>
  String(text)
    .split(PARTS)
    .map((part, i) => (i % 2 === 1 ? escaped(part) : part))
    .join('');

/** The text with its hidden characters in boxes, and with places where a line may break. */
export const shownText = (className, text) => {
  const parts = String(text)
    .split(PARTS)
    .flatMap((part, i) =>
      i % 2 === 1 ? [element('span', 'escape', escaped(part))] : broken(part),
    );
  return element('span', `${className} text`.trim(), ...parts);
};

const broken = (text) =>
  text
    .split(BREAKS)
    .flatMap((part) => [element('wbr'), part])
    .slice(1);
