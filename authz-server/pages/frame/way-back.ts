import type { ErrorProps } from './view.ts';

type WayBack = NonNullable<ErrorProps['back']>;

export const TO_ACCOUNT: WayBack = { href: '/account', text: 'account' };

/**
 * Returns the link from an error page to the client's site, or to the account page if the client has no https or http
 * redirect URI.
 */
export function wayBack(redirectUris: readonly string[] = []): WayBack {
  const page = redirectUris.find((uri) => /^https?:/.test(uri) && URL.canParse(uri));
  return page === undefined ? TO_ACCOUNT : { href: `${new URL(page).origin}/`, text: 'client' };
}
