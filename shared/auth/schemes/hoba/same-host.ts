import type { AuthRequest } from '../../scheme.ts';

/**
 * True if the requested URL has the origin that is signed (RFC 7486 section 3); a trusted proxy may use another host.
 * If the target is an absolute URL, its host counts (RFC 9112 section 3.2.2).
 */
export function isSameHost({ origin, target, peer, field }: AuthRequest): boolean {
  if (peer.trusted) return true;
  const [, whole] = /^https:\/\/([^/?]*)/i.exec(target) ?? [];
  const asked = whole ?? field(':authority') ?? field('host') ?? '';
  return asked.toLowerCase().replace(/:443$/, '') === new URL(origin).host;
}
