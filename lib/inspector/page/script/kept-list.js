/* global document */
import { button } from './element.js';
import { named } from './snapshot.js';

/**
 * Keeps the elements of a list between snapshots, so that focus, folds and selections in it survive.
 *
 * @param make makes a view of an item: its `element`, and `update(item)`
 */
export const keptList = (parent, nameOf, make) => {
  let views = new Map();
  return (items) => {
    const focused = document.activeElement;
    const before = views;
    views = new Map(
      named(items, nameOf).map(([name, item]) => {
        const view = before.get(name) ?? make();
        view.update(item);
        return [name, view];
      }),
    );
    for (const [name, view] of before) if (views.get(name) !== view) view.element.remove();
    let next = parent.firstChild;
    for (const { element } of views.values()) {
      if (element === next) next = next.nextSibling;
      else parent.insertBefore(element, next);
    }
    if (focused?.isConnected && document.activeElement !== focused)
      focused.focus({ preventScroll: true }); // an element that moves loses it
  };
};

/** Shows the first `few` of a list, and `step` more with each click. */
export const folded = (show, few, step) => {
  let shown = few;
  let all = [];
  const draw = () => {
    const hidden = Math.max(0, all.length - shown);
    show(all.slice(0, shown));
    more.textContent = `${hidden} more`;
    more.hidden = hidden === 0;
    fewer.hidden = all.length <= few || shown === few;
  };
  const unfold = (count) => {
    shown = count;
    draw();
  };
  const more = button('fold', '', () => unfold(shown + step));
  const fewer = button('fold', 'show fewer', () => unfold(few));
  return {
    buttons: [more, fewer],
    update(items) {
      all = items;
      draw();
    },
  };
};
