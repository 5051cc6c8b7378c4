import { createHash } from 'node:crypto';
import { inspectorHtml, inspectorScript, inspectorStyle, inspectorTheme } from './parts.js';

const STYLE = inspectorTheme + inspectorStyle;

/** The page, and the headers that block all other content in it. */
interface InspectorPage {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** @param mayRelease whether the page shows buttons to release by force */
export function inspectorPage(mayRelease: boolean): InspectorPage {
  const html = inspectorHtml
    .replace('<html lang="en">', `<html lang="en" data-may-release="${mayRelease}">`)
    .replace('<style></style>', () => `<style>${STYLE}</style>`)
    .replace('<script></script>', () => `<script>${inspectorScript}</script>`);
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(inspectorScript)}`,
    `style-src ${hashOf(STYLE)}`,
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

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
