import type { AuthRequest } from '../../scheme.ts';

/**
 * Whether the URL that is accessed is of the origin that is signed (RFC 7486 section 3); a trusted proxy may
 * call us otherwise. Of a target that is a whole URL that one counts (RFC 9112 section 3.2.2).
 */
export function isSameHost({ origin, target, peer, field }: AuthRequest): boolean {
  if (peer.trusted) return true;
  const [, whole] = /^https:\/\/([^/?]*)/i.exec(target) ?? [];
  const asked = whole ?? field(':authority') ?? field('host') ?? '';
  return asked.toLowerCase().replace(/:443$/, '') === new URL(origin).host;
}
