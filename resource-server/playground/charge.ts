import { customerOf } from '#shared/http/forwarded.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { Limits } from '#shared/stores/limits/limits.ts';

/** The limit of exchanges and explanations of one visitor. */
const RATE = { burst: 30, per: 2 };

/** Counts a form of a visitor. Rejects with `HttpError` 429 if the visitor sent too many. */
export type Charge = (visitor: string) => Promise<void>;

export function createCharge(limits: Pick<Limits, 'spend'>): Charge {
  return async (visitor) => {
    const spent = await limits.spend('playground', customerOf(visitor), RATE);
    if (!spent.ok) throw tooMany(spent, 429, 'Too many forms came from your address.');
  };
}

/**
 * The limits of exchanges that use the authorization server, of one visitor and of all. Each costs lines in its audit
 * log and memory.
 */
const AT_ISSUER = { ofOne: { burst: 20, per: 10 }, ofAll: { burst: 60, per: 5 } };

/**
 * Counts an exchange of a visitor at the authorization server. Rejects with `HttpError` 429 if this visitor had too
 * many, and 503 if all visitors together had too many.
 */
export function createChargeOfIssuer(limits: Pick<Limits, 'spend'>): Charge {
  const kind = 'authorization server';
  return async (visitor) => {
    const key = `${kind} ${customerOf(visitor)}`;
    const ofOne = await limits.spend('playground', key, AT_ISSUER.ofOne);
    if (!ofOne.ok) throw tooMany(ofOne, 429, 'Too many of these forms came from your address.');
    const ofAll = await limits.spend('playground', kind, AT_ISSUER.ofAll);
    if (!ofAll.ok)
      throw tooMany(
        ofAll,
        503,
        'Other visitors use the authorization server now. Try again in a moment.',
      );
  };
}

const tooMany = ({ retryAfter }: { readonly retryAfter: number }, status: number, why: string) =>
  new HttpError(status, why, { 'Retry-After': String(retryAfter) });
