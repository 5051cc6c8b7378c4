/* global document, location */
const root = document.documentElement;
const banner = document.getElementById('notice');

/** Where the routes of the inspector are. */
export const base = location.pathname.replace(/\/+$/, '');

export const { environment } = root.dataset;

/** Whether the guards of the page can allow a release at all. */
export const mayRelease = root.dataset.mayRelease === 'true';

/** The server has refused a release to this user: hides the menus. */
export const hideMenus = () => (root.dataset.mayRelease = 'false');

/** Shows a message above the locks; none if it is empty. */
export const announce = (text) => {
  banner.textContent = text;
  banner.hidden = text === '';
};

/** What `announce` shows. */
export const announced = () => banner.textContent;
