import { createHash } from 'node:crypto';
import { inspectorHtml, inspectorScript, inspectorStyle } from './parts.js';

/** The page, and the headers that block all other content in it. */
interface InspectorPage {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What the page says of the application. */
interface PageNames {
  readonly app?: string | undefined;
  readonly environment?: string | undefined;
}

/** @param mayRelease whether the page shows menus to release by force */
export function inspectorPage(mayRelease: boolean, names: PageNames = {}): InspectorPage {
  const [app, environment] = [escaped(names.app), escaped(names.environment)];
  const root = `<html lang="en" data-may-release="${mayRelease}" data-environment="${environment}">`;
  const title = [environment, app, 'Locks'].filter(Boolean).join(' · ');
  const heading = app === '' ? 'Locks' : `Locks of ${app}`;
  const badge = environment && ` <span class="environment">${environment}</span>`;
  const html = inspectorHtml
    .replace('<html lang="en">', () => root)
    .replace('<title>Locks</title>', () => `<title>${title}</title>`)
    .replace('<h1>Locks</h1>', () => `<h1>${heading}${badge}</h1>`)
    .replace('<style></style>', () => `<style>${inspectorStyle}</style>`)
    .replace('<script></script>', () => `<script>${inspectorScript}</script>`);
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(inspectorScript)}`,
    `style-src ${hashOf(inspectorStyle)}`,
    "connect-src 'self'",
    'img-src data:', // for the empty icon
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    html,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy.join('; '),
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'same-origin', // with none, some browsers send no origin with a release either
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
    },
  };
}

/** For HTML, also within quotes. */
function escaped(text = ''): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
