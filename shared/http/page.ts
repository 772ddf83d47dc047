import { createHash } from 'node:crypto';
import type { Answer } from './answer.ts';

const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; padding: .75rem; border: 1px solid; border-radius: .25rem; }
button, input { box-sizing: border-box; max-width: 100%; padding: .5rem .75rem; font: inherit; overflow-wrap: anywhere; }
table { border-spacing: 0; }
th, td { text-align: start; vertical-align: top; padding: .25rem 1rem .25rem 0; }
td:first-child { width: 50%; }
th, td + td { overflow-wrap: normal; }
`;

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** A page with a script asks its own origin alone, and makes no HTML of text. */
const policy = (script: string | undefined) =>
  [
    "default-src 'none'",
    `style-src ${hashOf(STYLE)}`,
    ...(script === undefined
      ? []
      : [
          `script-src ${hashOf(script)}`,
          "connect-src 'self'",
          "require-trusted-types-for 'script'",
        ]),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/**
 * A page, by itself without script. `title` is text; `content` is HTML whose values went through `escapeHtml`;
 * `script`: a module.
 */
export function page(title: string, content: string, script?: string): Answer {
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${content}
</main>${script === undefined ? '' : `\n<script type="module">${script}</script>`}
</body>
</html>
`;
  return {
    status: 200,
    fields: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy(script),
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-cache',
    },
    body,
  };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** A word of a POSIX shell: quoted where the shell would read more into it. */
export function shellWord(value: string): string {
  return /^[\w.:/@%+-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}
