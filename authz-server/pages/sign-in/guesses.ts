import type { Config } from '#shared/config/schema.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import type { Limits, Rate, Spent } from '#shared/stores/limits/limits.ts';
import type { Bucket } from './code-limit.ts';

type Paid =
  | Extract<Spent, { ok: false }>
  | {
      readonly ok: true;
      /** After a code that was no guess: the person has decided about it before. */
      giveBack(): Promise<void>;
    };

/** The limit of a person whose address sends too many codes: enough for a device now and then. */
const STRICT: Rate = { burst: 3, per: 3600 };
/** So many times the guesses of one person may come from one address. */
const PEOPLE_AT_AN_ADDRESS = 10;

/**
 * Pays for looking one user code up (RFC 8628 section 5.1): from the person's bucket and from the
 * address's. An empty bucket of the address refuses nobody by itself, or a guesser could keep the
 * others at that address from their right codes: it only lets everybody there down to a few.
 */
export async function payForGuess(
  { stores, config }: { readonly stores: { readonly limits: Limits }; readonly config: Config },
  accountId: string,
  address: string,
): Promise<Paid> {
  const { limits } = stores;
  const rate = config.limits.userCode;
  const shared = { ...rate, burst: rate.burst * PEOPLE_AT_AN_ADDRESS };
  const ofPerson: Bucket = ['user-code', accountId, rate];
  const ofAddress: Bucket = ['user-code-address', customerOf(address), shared];
  const strict: Bucket = ['user-code-strict', accountId, STRICT];
  const own = await limits.spend(...ofPerson);
  if (!own.ok) return own;
  const here = await limits.spend(...ofAddress);
  const spent = here.ok ? here : await limits.spend(...strict);
  if (!spent.ok) return spent;
  const buckets = [ofPerson, here.ok ? ofAddress : strict];
  return {
    ok: true,
    async giveBack() {
      await Promise.all(buckets.map((bucket) => limits.giveBack(...bucket)));
    },
  };
}
