import type { ClientRecord } from '#shared/stores/oauth/clients.ts';

/**
 * The origins whose scripts act for a client (CORS): the origins that the client names, and those of its redirect URIs.
 * Only http and https URLs have origins; the `null` of any other URL stands for everybody.
 */
export function clientOrigins(
  client: Pick<ClientRecord, 'origins' | 'redirect_uris'>,
): ReadonlySet<string> {
  const urls = [...(client.origins ?? []), ...(client.redirect_uris ?? [])];
  return new Set(
    urls
      .map((url) => URL.parse(url))
      .filter((url) => url?.protocol === 'https:' || url?.protocol === 'http:')
      .flatMap((url) => url?.origin ?? []),
  );
}
