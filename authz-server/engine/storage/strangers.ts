import { errors, Provider } from 'oidc-provider';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { customerOf } from '#shared/http/forwarded.ts';
import { spend } from '../../base/spend.ts';
import type { AdapterStore } from './store.ts';

/** The most characters of JSON in a row. A request line has 8 KiB, and a few of its characters are escaped twice. */
const LONGEST = 16_384;

/**
 * Limits the rows that the server writes for unauthenticated visitors: their number for each address and in total
 * (`limits.visits`, `limits.allVisits`), and their length. Rows of a signed-in person count against the account, with
 * the same limit. `unknown` returns the visitor for which a row is written.
 */
export function boundedForStrangers(
  { stores, config }: AdapterStore,
  adapter: Adapter,
  unknown: (payload: AdapterPayload) => boolean,
): Adapter {
  const { visits } = config.limits;
  return {
    ...adapter,
    async upsert(id, payload, expiresIn) {
      const account = payload.session?.accountId;
      if (account !== undefined || unknown(payload)) {
        if (JSON.stringify(payload).length > LONGEST) {
          throw new errors.InvalidRequest('the request is too long');
        }
        await (account === undefined
          ? spendOfStranger({ stores, config })
          : spend(stores, 'visits-account', account, visits));
      }
      await adapter.upsert(id, payload, expiresIn);
    },
  };
}

/**
 * Counts a row that is written for an unauthenticated visitor at the address of the current request. Throws
 * `TooManyRequests`.
 */
export async function spendOfStranger({
  stores,
  config,
}: Pick<AdapterStore, 'stores' | 'config'>): Promise<void> {
  const { visits, allVisits } = config.limits;
  await spend(stores, 'visits', customerOf(Provider.ctx?.ip ?? ''), visits);
  await spend(stores, 'all-visits', 'all', allVisits);
}

/**
 * Whether anybody could send this request: the client is public (RFC 6749 section 2.1), or describes itself in a
 * document, so that anybody may make another client with a key.
 */
export function byAnybody(): boolean {
  const { client } = Provider.ctx?.oidc ?? {};
  return client?.clientAuthMethod === 'none' || client?.['describes_itself'] === true;
}
