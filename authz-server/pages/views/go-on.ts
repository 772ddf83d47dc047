import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { document, type Frame } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';

/** The browser goes on to a client by itself. */
export interface GoOnProps {
  /** The client's redirect URI with the answer to its request. */
  readonly href: string;
  readonly client: string;
}

/**
 * The end of a form that leads to a client, from which the browser goes on by itself, without script. A redirect would not
 * do: Chromium applies the `form-action` of the form's page to each further redirect, also to those of the client (CSP Level 3
 * section 6.4.1). Browsers follow no `Refresh` to a script, and the client is not told where the browser came from.
 */
export function goOnPage(frame: Frame, { href, client }: GoOnProps): Answer {
  const { title, text, on } = textsOf(frame.language).goOn;
  const page = document(frame, {
    title: title(client),
    content: html`<div class="card">
      <div class="intro">
        <h1>${title(client)}</h1>
        <p>${text}</p>
      </div>
      <div class="buttons"><a class="button primary" href="${href}">${on}</a></div>
    </div>`,
  });
  const fields = { Refresh: `0;url=${href}`, 'Referrer-Policy': 'no-referrer' };
  return { ...page, fields: { ...page.fields, ...fields } };
}
