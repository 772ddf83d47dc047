import type { Config } from '#shared/config/schema.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import type { Limits, Rate, Spent } from '#shared/stores/limits/limits.ts';
import type { Bucket } from './code-limit.ts';

type Paid =
  | Extract<Spent, { ok: false }>
  | {
      readonly ok: true;
      /** Call this after a code about which the person has already decided: it was no guess. */
      giveBack(): Promise<void>;
    };

/** The limit of a person whose address sends too many codes: enough for a device now and then. */
const STRICT: Rate = { burst: 3, per: 3600 };
/** The limit of one IP address, as a multiple of a person's limit. */
const PEOPLE_AT_AN_ADDRESS = 10;

/**
 * Counts the lookup of a user code (RFC 8628 section 5.1) against the limits of the person and of the IP address. An
 * empty bucket of the address does not refuse by itself, since a guesser could then block other people there. It only
 * lowers the limit of each person at that address.
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
