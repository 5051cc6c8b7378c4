/* global document */
/** A new element with children; those that are `undefined` or empty are left out, and strings become text. */
export const element = (tag, className, ...children) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children.filter((child) => child !== undefined && child !== ''));
  return made;
};

export const button = (className, label, onClick) => {
  const made = element('button', className, label);
  made.type = 'button';
  made.addEventListener('click', onClick);
  return made;
};

/** What `draw` draws, or something else if that is not possible: one lock does not take the page with it. */
export const unlessBroken = (draw, otherwise) => {
  try {
    return draw();
  } catch {
    return otherwise();
  }
};

export const plural = (count, noun) =>
  `${count} ${noun}${count === 1 ? '' : noun.endsWith('s') ? 'es' : 's'}`;
