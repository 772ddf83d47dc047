import type { Clock } from '#shared/base/clock.ts';
import { DIRECTORY_TYPE, formatDirectory } from '#shared/private-token/issuer-directory.ts';
import { type Answer, HttpError } from '#shared/http/answer.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { validated } from '#shared/server/endpoints/validated.ts';
import { hasEachType, type IssuingKey, type IssuerKeyRing } from './key-ring.ts';

export interface DirectoryParts {
  readonly ring: IssuerKeyRing;
  /** The absolute Issuer Request URL. */
  readonly requestUrl: string;
  /** Seconds for which the directory may be cached. */
  readonly maxAge: number;
  readonly clock: Clock;
}

/**
 * Serves the issuer directory (RFC 9578 section 4). Every client gets the same octets, so the directory cannot tell
 * clients apart (RFC 9576 section 6.2). The answer is a complete directory or 503, and no cache stores the directory
 * longer than its keys are valid.
 */
export function directory({ ring, requestUrl, maxAge, clock }: DirectoryParts) {
  return async (request: AnyRequest): Promise<Answer> => {
    await ring.refresh();
    const keys = ring.live.toSorted(preference);
    if (!hasEachType(keys)) {
      throw new HttpError(503, 'The keys are just being made. Try again.', { 'Retry-After': '1' });
    }
    const retires = Math.min(...keys.map(({ until }) => until));
    const fresh = Math.max(0, Math.min(maxAge, Math.floor((retires - clock.now()) / 1000)));
    const body = formatDirectory({
      requestUrl,
      keys: keys.map(({ type, id, publicKey, notBefore, notAfter }) => ({
        type,
        id,
        publicKey,
        notBefore: notBefore / 1000,
        notAfter: notAfter / 1000,
      })),
    });
    const fields = {
      'Cache-Control': `public, max-age=${fresh}`,
      'Content-Type': DIRECTORY_TYPE,
    };
    return validated(request, { status: 200, fields, body });
  };
}

/** Orders keys with the newest first (RFC 9578 section 4); the order is deterministic. */
function preference(a: IssuingKey, b: IssuingKey): number {
  return b.notBefore - a.notBefore || a.type - b.type || a.id.compare(b.id);
}
