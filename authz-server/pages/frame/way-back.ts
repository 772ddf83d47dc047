import type { ErrorProps } from './view.ts';

type WayBack = NonNullable<ErrorProps['back']>;

export const TO_ACCOUNT: WayBack = { href: '/account', text: 'account' };

/** From an error to where the client's own pages are, as its registered redirect URIs say. */
export function wayBack(redirectUris: readonly string[] = []): WayBack {
  const page = redirectUris.find((uri) => /^https?:/.test(uri) && URL.canParse(uri));
  return page === undefined ? TO_ACCOUNT : { href: `${new URL(page).origin}/`, text: 'client' };
}
