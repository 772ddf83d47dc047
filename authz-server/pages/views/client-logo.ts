import { type Html, html } from '#shared/pages/html.ts';

/**
 * The logo of a client above the page's title. Its name stands below, so that it says nothing to those who do not see it.
 * Where it does not load, nothing shows that it is missing.
 */
export function clientLogo(logo: string | undefined): Html | undefined {
  return logo === undefined
    ? undefined
    : html`<div class="client-logo">
        <img src="${logo}" alt="" referrerpolicy="no-referrer" />
      </div>`;
}
