import {
  readSiteChallenges,
  type SiteChallenge,
} from '#shared/auth/schemes/private-token/client.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Reply } from '#shared/client/send.ts';
import { serverNameOf } from '#shared/private-token/server-name.ts';
import { TOKEN_TYPES, type TokenType } from '#shared/private-token/token-types.ts';
import { Failure } from '../arguments/command.ts';

/**
 * The challenges of a site that may be answered (RFC 9577 section 2.1.3), in its order; those of other
 * schemes and of unknown types are ignored. Throws `Failure` with what is wrong with each when there is none.
 * `wanted`: of this type alone.
 */
export function answerable(
  url: string,
  { status, fields }: Reply,
  clock: Clock,
  wanted?: TokenType,
): readonly [SiteChallenge, ...SiteChallenge[]] {
  if (status !== 401) throw new Failure(`${url} answers ${status}: it asks for no token`);
  const site = serverNameOf(new URL(url).origin);
  const read = readSiteChallenges(fields['www-authenticate'] ?? '', site, clock);
  if (read === undefined) throw new Failure(`the WWW-Authenticate of ${url} is malformed`);
  const good = read.filter((one) => typeof one !== 'string');
  const [first, ...others] = good.filter(({ type }) => wanted === undefined || type === wanted);
  if (first !== undefined) return [first, ...others];
  const reasons = new Set(read.filter((one) => typeof one === 'string'));
  const type = wanted === undefined ? '' : ` of type ${TOKEN_TYPES[wanted].name}`;
  const reason = [...reasons].join('; ') || `none asks for a PrivateToken${type}`;
  throw new Failure(`${url} gives no challenge that can be answered: ${reason}`);
}
