/* global document, window */
import { button, element } from './element.js';
import { askForRelease } from './release-dialog.js';

let chosen;
const entry = button('danger', 'Force release…', () => {
  menu.hidePopover();
  askForRelease(chosen);
});
entry.setAttribute('role', 'menuitem');
const menu = element('div', 'popup', entry);
menu.setAttribute('popover', 'auto');
menu.setAttribute('role', 'menu');
window.addEventListener('resize', () => menu.isConnected && menu.hidePopover());

/** Opens the one menu of the page below the button of a holder. It is no part of a row, so a redrawn row leaves it open. */
export const openMenu = (opener, holder) => {
  chosen = holder;
  if (!menu.isConnected) document.body.append(menu);
  menu.showPopover();
  const { right, bottom } = opener.getBoundingClientRect();
  menu.style.top = `${bottom + window.scrollY + 4}px`;
  menu.style.left = `${Math.max(8, right + window.scrollX - menu.offsetWidth)}px`;
  entry.focus();
};
