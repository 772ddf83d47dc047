import { customerOf } from '#shared/http/forwarded.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { Limits } from '#shared/stores/limits/limits.ts';

/** Exchanges and explanations of one visitor. */
const RATE = { burst: 30, per: 2 };

/** Counts a form of a visitor. Rejects with `HttpError` 429 if there were too many lately. */
export type Charge = (visitor: string) => Promise<void>;

/** Exchanges of all visitors that ask the authorization server, whose audit log and memory each of them costs. */
const AT_ISSUER = { burst: 20, per: 5 };

/** Counts an exchange at the authorization server. Rejects with `HttpError` 503 if there were too many lately. */
export function createChargeOfIssuer(limits: Pick<Limits, 'spend'>): () => Promise<void> {
  return async () => {
    const spent = await limits.spend('playground', 'authorization server', AT_ISSUER);
    if (spent.ok) return;
    const fields = { 'Retry-After': String(spent.retryAfter) };
    throw new HttpError(503, 'Other visitors ask the authorization server now.', fields);
  };
}

export function createCharge(limits: Pick<Limits, 'spend'>): Charge {
  return async (visitor) => {
    const spent = await limits.spend('playground', customerOf(visitor), RATE);
    if (spent.ok) return;
    const fields = { 'Retry-After': String(spent.retryAfter) };
    throw new HttpError(429, 'Too many forms came from your address.', fields);
  };
}
