import { type Authority, parseAuthority } from '#shared/client/destinations/authority.ts';

/** The target of a request that a proxy forwards (RFC 9112 section 3.2.2). */
export interface ProxyTarget extends Authority {
  /** The authority as received, which is the forwarded value of Host. */
  readonly authority: string;
  /** Path and query as received; `*` for OPTIONS without a path (RFC 9112 section 3.2.4). */
  readonly path: string;
}

const ABSOLUTE = /^http:\/\/([^/?]+)([!"$-~]*)$/i;

/**
 * Parses absolute-form with the scheme http. Returns undefined for another form or a malformed target. Targets have no
 * fragments, and userinfo is refused (RFC 9110 section 4.2.4).
 */
export function parseProxyTarget(method: string, text: string): ProxyTarget | undefined {
  const [, authority = '', rest = ''] = ABSOLUTE.exec(text) ?? [];
  const parsed = parseAuthority(authority, 80);
  if (parsed === undefined) return undefined;
  const empty = method === 'OPTIONS' ? '*' : '/';
  return {
    ...parsed,
    authority,
    path: rest.startsWith('/') ? rest : rest === '' ? empty : `/${rest}`,
  };
}
