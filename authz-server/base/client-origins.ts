import type { ClientRecord } from '#shared/stores/oauth/clients.ts';

/**
 * The origins whose scripts act for a client (CORS): those it names, and those that its authorization
 * codes go to. Only http and https have origins; the `null` of any other URL is everybody's.
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
